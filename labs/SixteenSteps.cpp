// Lab 01: one token's cycle in sixteen steps, each a blank. The student reads them from a trace;
// here the same run is made again and asked directly, since writing a trace takes a second.
#include "labs/Check.h"
#include "runtime/engine/Dump.h"
#include "runtime/engine/Engine.h"

#include "llvm/ADT/StringExtras.h"

namespace vetro::labs {

// The lesson's command: vetro run tiny -p "Ciao, come" -n 4 --ubatch 3 --temp 0.8 --top-k 5
// --seed 3
constexpr llvm::StringLiteral prompt = "Ciao, come";
constexpr uint32_t nPredict = 4, nUbatch = 3, topK = 5, seed = 3;
constexpr float temperature = 0.8f;

namespace {
/// What happened when the first token was drawn.
struct FirstToken : GenerationWatcher {
  explicit FirstToken(size_t nVocab) : stages(nVocab, 1) {}
  llvm::Error beforeBatch(llvm::ArrayRef<BatchToken> batch) override {
    if (id < 0) {
      nTokens = batch.size();
      nOutputs = llvm::count_if(batch, [](const BatchToken &token) { return token.output; });
    }
    return llvm::Error::success();
  }
  SampleRecord *record() override { return &stages; }
  llvm::Error sampled(int32_t drawn, const SamplingState &, llvm::ArrayRef<float> logits) override {
    if (id >= 0)
      return llvm::Error::success();
    id = drawn;
    largest = *llvm::max_element(logits);
    for (const SampleRecord::Stage &stage : stages.stages())
      if (llvm::StringRef(stage.name) == "top-k")
        survivors = stage.out;
    return llvm::Error::success();
  }

  SampleRecord stages;
  size_t nTokens = 0, nOutputs = 0, survivors = 0;
  int32_t id = -1;
  float largest = 0;
};
} // namespace

static Truth number(double value) { return {.numbers = {value}}; }
static Truth word(llvm::StringRef text) { return {.words = {{text.str()}}}; }

static uint64_t kvBytes(const Plan &plan, uint32_t nCtx) {
  uint64_t bytes = 0;
  for (const PlanState &s : plan.states)
    bytes += uint64_t(s.heads) * s.headDim * (s.element == "f16" ? 2 : 4) * nCtx;
  return bytes;
}

/// Steps 1 to 7: what is there before a prompt.
static llvm::Error loadSteps(const Model &model, uint32_t nCtx, Truths &all) {
  auto architecture = model.file().require<llvm::StringRef>("general.architecture");
  if (!architecture)
    return architecture.takeError();
  all["level"] = word(model.options().level);
  all["file_bytes"] = number(model.file().fileBytes());
  all["architecture"] = word(*architecture);
  all["head_dim"] = number(model.plan().states.front().headDim);
  all["vocabulary"] = number(model.tokenizer().nTokens());
  all["tensors"] = number(model.file().tensors().size());
  all["kv_bytes"] = number(kvBytes(model.plan(), nCtx));
  return llvm::Error::success();
}

/// Steps 8, 9, 12: the text becomes ids, the ids micro-batches.
static std::vector<int32_t> promptSteps(const Tokenizer &tokenizer, Truths &all) {
  Explain explain;
  std::vector<int32_t> ids = tokenizer.encodeExplained(prompt, /*addSpecial=*/true,
                                                       /*parseSpecial=*/false, explain);
  all["words"] = number(explain.words.size());
  all["ids"] = {.numbers = {ids.begin(), ids.end()}};
  Truth &micro = all["micro"];
  for (size_t begin = 0; begin < ids.size(); begin += nUbatch)
    micro.numbers.push_back(std::min<size_t>(nUbatch, ids.size() - begin));
  return ids;
}

/// Steps 11 and 13: values and steps of the pass over the prompt.
static llvm::Error passSteps(std::shared_ptr<const Model> model, llvm::ArrayRef<int32_t> ids,
                             Truths &all) {
  auto globs = HookGlobs::create({"embed"});
  if (!globs)
    return globs.takeError();
  auto dump = dumpRun(model, {.nUbatch = nUbatch}, ids, *globs);
  if (!dump)
    return dump.takeError();
  const NamedTensor &embed = dump->values.front().tensor;
  all["embed"] = number(embed.data[(ids.size() - 1) * embed.shape.back()]);
  auto hooks = HookRecorder::list(*model);
  if (!hooks)
    return hooks.takeError();
  for (const Hook &hook : *hooks)
    if (hook.name == "blk.0.ffn_act")
      all["fused"] = word(model->plan().steps[hook.step].op);
  return llvm::Error::success();
}

/// Steps 10 and 14 to 16: a batch, its logits, a token, its bytes.
static llvm::Error tokenSteps(Session &session, llvm::ArrayRef<int32_t> ids, Truths &all) {
  const Tokenizer &tokenizer = session.model().tokenizer();
  FirstToken first(tokenizer.nTokens());
  GenerateOptions options;
  options.nPredict = nPredict;
  options.sampling.temperature = temperature;
  options.sampling.topK = topK;
  options.sampling.seed = seed;
  auto made = generate(session, tokenizer, ids, options, [](llvm::StringRef) {}, &first);
  if (!made)
    return made.takeError();
  all["batch"] = {.numbers = {double(first.nTokens), double(first.nOutputs)}};
  all["logit"] = number(first.largest);
  all["drawn"] = {.numbers = {double(first.survivors), double(first.id)}};
  all["text"] = {.words = {{llvm::toHex(tokenizer.piece(first.id), /*LowerCase=*/true)},
                           {stopName(made->stop)}}};
  return llvm::Error::success();
}

static llvm::Expected<Truths> truths(const Folder &, const ModelOptions &tiny) {
  auto model = Model::load(tiny);
  if (!model)
    return model.takeError();
  auto session = Session::create(*model, {.nUbatch = nUbatch});
  if (!session)
    return session.takeError();
  Truths all;
  if (llvm::Error error = loadSteps(**model, (*session)->nCtx(), all))
    return std::move(error);
  std::vector<int32_t> ids = promptSteps((*model)->tokenizer(), all);
  if (llvm::Error error = passSteps(*model, ids, all))
    return std::move(error);
  if (llvm::Error error = tokenSteps(**session, ids, all))
    return std::move(error);
  return all;
}

const LabCode sixteenSteps{"01", nullptr, truths};

} // namespace vetro::labs
