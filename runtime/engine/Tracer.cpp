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

llvm::Expected<std::unique_ptr<Tracer>> Tracer::create(TraceWriter &writer,
                                                       llvm::ArrayRef<std::string> hooks,
                                                       Session &session, const TracedPrompt &prompt,
                                                       const SamplingOptions &sampling) {
  const Model &model = session.model();
  auto globs = HookGlobs::create(hooks);
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
  auto chain = Chain::create(sampling, model.plan().nVocab);
  if (!chain)
    return chain.takeError();
  std::unique_ptr<Tracer> tracer(new Tracer(session, writer));
  tracer->hooks = std::move(wanted);
  tracer->document = {{"format", "vetro-trace"}, {"version", traceVersion}};
  if (llvm::Error error = traceModel(model, session.nCtx(), session.runner().arenaBytes(), writer,
                                     tracer->document))
    return std::move(error);
  tracer->describePrompt(prompt, sampling, *chain);
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
  document["batches"] = Json::array(), document["tokens"] = Json::array();
  document["hooks"] = Json::array();
  for (const Hook &hook : hooks)
    document["hooks"].push_back(hook.name);
}

void Tracer::addToken(int32_t id, int64_t batch, int64_t row) {
  std::string bytes = tokenizer.piece(id);
  document["tokens"].push_back({{"position", document["tokens"].size()},
                                {"id", id},
                                {"piece", tokenizer.token(id).str()},
                                {"bytes", llvm::toHex(bytes, /*LowerCase=*/true)},
                                {"batch", batch},
                                {"row", row}});
}

llvm::Error Tracer::beforeBatch(llvm::ArrayRef<BatchToken> batch) {
  Json &batches = document["batches"];
  uint32_t first = session.length(0);
  // The token that was sampled last is there already.
  for (auto [row, token] : llvm::enumerate(batch)) {
    if (first + row == document["tokens"].size())
      addToken(token.id, -1, 0);
    document["tokens"][first + row]["batch"] = batches.size();
    document["tokens"][first + row]["row"] = row;
  }
  Json parts = Json::array();
  for (size_t begin = 0; begin < batch.size(); begin += session.options().nUbatch)
    parts.push_back(std::min<size_t>(session.options().nUbatch, batch.size() - begin));
  batches.push_back({{"first", first},
                     {"tokens", batch.size()},
                     {"outputs", llvm::count_if(batch, [](auto &t) { return t.output; })},
                     {"ms", 0},
                     {"micro_batches", parts}});
  clock.clear();
  if (hooks.empty())
    return llvm::Error::success();
  auto made = HookRecorder::create(session.model(), hooks);
  if (!made)
    return made.takeError();
  recorder = std::move(*made);
  session.observe(recorder.get());
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
  Json &batch = document["batches"].back();
  std::string file =
      llvm::formatv("values/{0,0+5}.safetensors", batch["first"].get<int64_t>()).str();
  batch["values"] = file;
  return writer.add(file, tensors, {{"producer", "vetro"}});
}

llvm::Error Tracer::afterBatch(double ms) {
  Json &batch = document["batches"].back();
  batch["ms"] = ms;
  Json times = Json::array();
  for (double us : clock.microseconds())
    times.push_back(std::round(us * 10) / 10);
  batch["step_us"] = std::move(times);
  return hooks.empty() ? llvm::Error::success() : addValues();
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

llvm::Error Tracer::sampled(int32_t id, const SamplingState &before, llvm::ArrayRef<float>) {
  Json stages = Json::array(), words = Json::array();
  for (const SampleRecord::Stage &stage : sampleRecord.stages())
    stages.push_back(stageJson(stage, tokenizer));
  for (uint64_t word : before.rng.s)
    words.push_back(llvm::utohexstr(word, /*LowerCase=*/true));
  document["tokens"].back()["sampled"] = {{"id", id},
                                          {"stages", stages},
                                          {"draw", sampleRecord.draw()},
                                          {"rng", words},
                                          {"eog", tokenizer.isEog(id)}};
  addToken(id, -1, 0);
  return llvm::Error::success();
}

llvm::Error Tracer::finish(const Generation &generation) {
  session.timeSteps(nullptr);
  // A token that was drawn and not taken, where none was wanted, is none.
  Json &tokens = document["tokens"];
  while (tokens.size() > document["prompt"]["ids"].size() + generation.ids.size())
    tokens.erase(tokens.size() - 1);
  document["text"] = generation.text;
  document["stop"] = stopName(generation.stop);
  return writer.finish(document);
}

} // namespace vetro
