// One document, filled as the generation goes on.
#include "runtime/engine/Tracer.h"
#include "runtime/engine/EncodingJson.h"
#include "runtime/engine/TraceModel.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace vetro {

using Json = nlohmann::ordered_json;

static constexpr size_t nTop = 16; ///< candidates kept of each sampler stage

Tracer::Tracer(Session &session, TraceWriter &writer)
    : session(session), tokenizer(session.model().tokenizer()), writer(writer),
      clock(session.model().plan().steps.size()),
      sampleRecord(session.model().plan().nVocab, nTop) {}

/// Of the values that steps write those that globs match. Error: a glob that matches none.
static llvm::Expected<std::vector<Hook>> hooksOf(const Model &model,
                                                 llvm::ArrayRef<std::string> texts) {
  auto globs = HookGlobs::create(texts);
  if (!globs)
    return globs.takeError();
  auto all = HookRecorder::list(model);
  if (!all)
    return all.takeError();
  std::vector<Hook> wanted;
  std::vector<llvm::StringRef> names;
  for (const Hook &hook : *all)
    if (hook.ran) {
      names.push_back(hook.name);
      if (globs->match(hook.name))
        wanted.push_back(hook);
    }
  if (llvm::Error error = globs->checkAllUsed(names))
    return std::move(error);
  return wanted;
}

llvm::Expected<std::unique_ptr<Tracer>> Tracer::create(TraceWriter &writer,
                                                       llvm::ArrayRef<std::string> hooks,
                                                       Session &session, const TracedPrompt &prompt,
                                                       const SamplingOptions &sampling) {
  const Model &model = session.model();
  auto wanted = hooksOf(model, hooks);
  if (!wanted)
    return wanted.takeError();
  auto chain = Chain::create(sampling, model.plan().nVocab);
  if (!chain)
    return chain.takeError();
  std::unique_ptr<Tracer> tracer(new Tracer(session, writer));
  tracer->document = {{"format", "vetro-trace"}, {"version", traceVersion}};
  if (!wanted->empty()) {
    auto recorder = HookRecorder::create(model, *wanted);
    if (!recorder)
      return recorder.takeError();
    tracer->recorder = std::move(*recorder);
  }
  if (llvm::Error error = traceModel(model, session.nCtx(), session.runner().arenaBytes(), writer,
                                     tracer->document))
    return std::move(error);
  tracer->describePrompt(prompt, sampling, *chain);
  tracer->document["hooks"] = Json::array();
  for (const Hook &hook : *wanted)
    tracer->document["hooks"].push_back(hook.name);
  session.timeSteps(&tracer->clock);
  return tracer;
}

static Json samplingJson(const SamplingOptions &o) {
  Json bias = Json::array();
  for (auto [id, value] : o.logitBias)
    bias.push_back({{"id", id}, {"bias", value}});
  return {{"logit_bias", bias},
          {"penalty_last_n", o.penaltyLastN},
          {"repeat_penalty", o.repeatPenalty},
          {"frequency_penalty", o.frequencyPenalty},
          {"presence_penalty", o.presencePenalty},
          {"top_k", o.topK},
          {"top_p", o.topP},
          {"min_p", o.minP},
          {"temperature", o.temperature},
          {"seed", std::to_string(o.seed)}};
}

void Tracer::describePrompt(const TracedPrompt &prompt, const SamplingOptions &sampling,
                            const Chain &chain) {
  document["sampler"] = {{"chain", chain.describe()}, {"options", samplingJson(sampling)}};
  Json &json = document["prompt"];
  json = {{"ids", prompt.ids.vec()}, {"pieces", piecesJson(tokenizer, prompt.ids)}};
  if (prompt.text) {
    Explain explain;
    tokenizer.encodeExplained(*prompt.text, /*addSpecial=*/true, prompt.parseSpecial, explain);
    json["text"] = *prompt.text;
    json["encoding"] = encodingJson(explain, *prompt.text);
  }
}

llvm::Error Tracer::beforeBatch(llvm::ArrayRef<BatchToken> batch) {
  uint32_t first = session.length(0);
  // The token that was sampled last is there already.
  for (auto [row, token] : llvm::enumerate(batch)) {
    if (first + row == tokens.size())
      tokens.push_back({token.id});
    tokens[first + row].batch = int64_t(batches.size());
    tokens[first + row].row = int64_t(row);
  }
  batches.push_back({first, uint32_t(batch.size()),
                     uint32_t(llvm::count_if(batch, [](auto &t) { return t.output; }))});
  clock.clear();
  if (recorder) {
    recorder->restart();
    session.observe(recorder.get());
  }
  return llvm::Error::success();
}

llvm::Error Tracer::addValues() {
  auto values = recorder->values(session);
  session.observe(nullptr);
  if (!values)
    return values.takeError();
  std::vector<RawTensor> tensors;
  for (const HookValue &v : *values)
    tensors.push_back({v.tensor.name,
                       "F32",
                       v.tensor.shape,
                       {reinterpret_cast<const char *>(v.tensor.data.data()),
                        v.tensor.data.size() * sizeof(float)}});
  Batch &batch = batches.back();
  batch.values = llvm::formatv("values/{0,0+5}.safetensors", batch.first).str();
  return writer.add(batch.values, tensors, {{"producer", "vetro"}});
}

llvm::Error Tracer::afterBatch(double ms) {
  batches.back().ms = ms;
  batches.back().stepUs = clock.microseconds();
  return recorder ? addValues() : llvm::Error::success();
}

llvm::Error Tracer::sampled(int32_t id, const SamplingState &before, llvm::ArrayRef<float>) {
  tokens.back().sampled = {id, sampleRecord.draw(), before.rng, sampleRecord.stages().vec()};
  tokens.push_back({id});
  return llvm::Error::success();
}

// ---- written out ----

Json Tracer::batchesJson() const {
  Json list = Json::array();
  for (const Batch &b : batches) {
    Json parts = Json::array(), times = Json::array();
    for (uint32_t begin = 0; begin < b.nTokens; begin += session.options().nUbatch)
      parts.push_back(std::min(session.options().nUbatch, b.nTokens - begin));
    for (double us : b.stepUs)
      times.push_back(std::round(us * 10) / 10);
    list.push_back({{"first", b.first},
                    {"tokens", b.nTokens},
                    {"outputs", b.nOutputs},
                    {"ms", b.ms},
                    {"micro_batches", parts},
                    {"step_us", times}});
    if (!b.values.empty())
      list.back()["values"] = b.values;
  }
  return list;
}

static Json stageJson(const SampleRecord::Stage &stage, const Tokenizer &tokenizer) {
  Json top = Json::array();
  for (const Candidate &c : stage.top)
    top.push_back(
        {{"id", c.id}, {"piece", tokenizer.token(c.id).str()}, {"logit", c.logit}, {"p", c.p}});
  return {{"name", stage.name},
          {"active", stage.active},
          {"in", stage.in},
          {"out", stage.out},
          {"mass_removed", stage.massRemoved},
          {"entropy_bits", stage.entropyBits},
          {"top", top}};
}

Json Tracer::tokensJson(size_t n) const {
  Json list = Json::array();
  for (auto [position, t] : llvm::enumerate(llvm::ArrayRef(tokens).take_front(n))) {
    list.push_back({{"position", position},
                    {"id", t.id},
                    {"piece", tokenizer.token(t.id).str()},
                    {"bytes", llvm::toHex(tokenizer.piece(t.id), /*LowerCase=*/true)},
                    {"batch", t.batch},
                    {"row", t.row}});
    if (!t.sampled)
      continue;
    Json stages = Json::array(), words = Json::array();
    for (const SampleRecord::Stage &stage : t.sampled->stages)
      stages.push_back(stageJson(stage, tokenizer));
    for (uint64_t word : t.sampled->rng.s)
      words.push_back(llvm::utohexstr(word, /*LowerCase=*/true));
    list.back()["sampled"] = {{"id", t.sampled->id},
                              {"stages", stages},
                              {"draw", t.sampled->draw},
                              {"rng", words},
                              {"eog", tokenizer.isEog(t.sampled->id)}};
  }
  return list;
}

llvm::Error Tracer::finish(const Generation &generation) {
  session.timeSteps(nullptr);
  document["batches"] = batchesJson();
  // A token that was drawn and not taken, where none was wanted, is none.
  size_t taken = document["prompt"]["ids"].size() + generation.ids.size();
  document["tokens"] = tokensJson(std::min(tokens.size(), taken));
  document["text"] = generation.text;
  document["stop"] = stopName(generation.stop);
  return writer.finish(document);
}

} // namespace vetro
