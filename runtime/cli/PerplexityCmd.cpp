// vetro perplexity: how well a model predicts a text, and how far its predictions are from those of
// another run that were saved.
#include "runtime/cli/Output.h"
#include "runtime/cli/OutputFile.h"
#include "runtime/cli/Prompt.h"
#include "runtime/compare/Perplexity.h"
#include "runtime/engine/Reference.h"
#include "runtime/engine/Session.h"
#include "runtime/memory/Signals.h"
#include "runtime/trace/SavedLogits.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace vetro::cli {

namespace {
struct PerplexityOptions {
  ModelOptions model;
  SessionOptions session;
  PromptOptions prompt;
  uint32_t stride = 0;
  uint64_t nChunks = 0;
  std::string save, base;
  CLI::Option *ctxOption = nullptr;
  bool reference = false, json = false;
};

/// What produces logits, and the vocabulary, which it keeps.
struct Predictor {
  std::unique_ptr<Evaluator> evaluator;
  const Tokenizer *tokenizer;
};

/// The text, cut.
struct Text {
  std::vector<int32_t> tokens;
  Chunks chunks;
};

struct PerplexityResult {
  Moments nll;
  std::vector<double> running; ///< the perplexity after each chunk
  DivergenceStatistics divergence;
};

constexpr double klFractions[] = {1, 0.999, 0.99, 0.95, 0.9, 0.5, 0};
constexpr const char *fractionNames[] = {"max", "99.9", "99", "95", "90", "median", "min"};
} // namespace

/// Rows of logits that a micro-batch may have: 128 MB of them.
static uint32_t rowsOfLogits(uint64_t nVocab) {
  return uint32_t(std::max<uint64_t>(16, (uint64_t(128) << 20) / (4 * nVocab)));
}

static llvm::Expected<Predictor> load(PerplexityOptions &o) {
  InterruptEndsProcess ends;
  catchFaults(o.model);
  if (o.reference) {
    auto reference = Reference::create(o.model, o.session);
    if (!reference)
      return reference.takeError();
    const Tokenizer *tokenizer = &(*reference)->tokenizer();
    return Predictor{std::move(*reference), tokenizer};
  }
  o.model.nCtx = o.session.nCtx;
  auto model = Model::load(o.model);
  if (!model)
    return model.takeError();
  o.session.nOutputs = rowsOfLogits((*model)->plan().nVocab);
  auto session = Session::create(*model, o.session);
  if (!session)
    return session.takeError();
  return Predictor{std::move(*session), &(*model)->tokenizer()};
}

// ---- the text ----

/// Opens the base and takes its chunk length. Errors: a file that is none, another --ctx.
static llvm::Expected<std::optional<SavedLogits>> openBase(PerplexityOptions &o) {
  if (o.base.empty())
    return std::nullopt;
  auto bytes = Bytes::ofFile(o.base);
  if (!bytes)
    return bytes.takeError();
  auto base = SavedLogits::open(std::move(*bytes));
  if (!base)
    return base.takeError();
  uint32_t nCtx = base->header().nCtx;
  if (o.ctxOption->count() && o.session.nCtx != nCtx)
    return llvm::createStringError(
        "%s: its chunks have %u tokens, --ctx asks for %u; leave --ctx out", o.base.c_str(), nCtx,
        o.session.nCtx);
  o.session.nCtx = nCtx;
  return std::move(*base);
}

/// Error: another vocabulary; a text that is not the base's.
static llvm::Error checkBase(const SavedLogits &base, llvm::ArrayRef<int32_t> text,
                             const Tokenizer &tokenizer) {
  const SavedLogitsHeader &h = base.header();
  auto refuse = [&](const llvm::Twine &what) {
    return llvm::createStringError(base.path() + ": " + what);
  };
  if (h.nVocab != tokenizer.nTokens())
    return refuse("its vocabulary has " + llvm::Twine(h.nVocab) + " tokens, the model's " +
                  llvm::Twine(tokenizer.nTokens()));
  auto [ours, theirs] = std::mismatch(text.begin(), text.end(), h.tokens.begin(), h.tokens.end());
  if (ours == text.end() && theirs != h.tokens.end())
    return refuse("was made from " + llvm::Twine(h.tokens.size()) + " tokens, the text has " +
                  llvm::Twine(text.size()));
  if (theirs != h.tokens.end())
    return refuse("its token " + llvm::Twine(theirs - h.tokens.begin()) + " is " +
                  llvm::Twine(*theirs) + ", the text's is " + llvm::Twine(*ours) +
                  ": was it made from another text?");
  return llvm::Error::success();
}

static bool hasPrompt(const PromptOptions &o) {
  return o.textOption->count() || o.fileOption->count() || o.idsOption->count();
}

/// The tokens of the prompt, or the base's where there is none.
static llvm::Expected<std::vector<int32_t>>
tokensOf(const PerplexityOptions &o, const SavedLogits *base, const Tokenizer &tokenizer) {
  if (!hasPrompt(o.prompt))
    return base->header().tokens;
  auto tokens = promptIds(o.prompt, tokenizer);
  // An end belongs to no text that goes on.
  if (tokens && !o.prompt.idsOption->count() && tokenizer.addsEos())
    tokens->pop_back();
  return tokens;
}

static llvm::Expected<Text> cutText(const PerplexityOptions &o, const SavedLogits *base,
                                    const Predictor &predictor) {
  auto tokens = tokensOf(o, base, *predictor.tokenizer);
  if (!tokens)
    return tokens.takeError();
  uint32_t nCtx = o.session.nCtx ? o.session.nCtx : predictor.evaluator->nCtx();
  if (nCtx > predictor.evaluator->nCtx())
    return llvm::createStringError("chunks of %u tokens, the model holds %u: give a smaller --ctx",
                                   nCtx, predictor.evaluator->nCtx());
  Text text;
  if (base) {
    if (llvm::Error error = checkBase(*base, *tokens, *predictor.tokenizer))
      return std::move(error);
    uint64_t count = uint64_t(base->header().nChunks);
    text.chunks = {nCtx, nCtx, nCtx / 2, o.nChunks ? std::min(count, o.nChunks) : count};
  } else {
    auto chunks = cutIntoChunks(tokens->size(), nCtx, o.stride, o.nChunks);
    if (!chunks)
      return chunks.takeError();
    text.chunks = *chunks;
  }
  if (predictor.tokenizer->addsBos())
    text.chunks.bos = predictor.tokenizer->bos();
  text.tokens = std::move(*tokens);
  return text;
}

// ---- the run ----

/// Takes each position: adds it up, saves it, holds it against the base.
class Gatherer {
public:
  Gatherer(PerplexityResult &result, const SavedLogits *base, llvm::raw_ostream *save)
      : result(result), base(base), save(save), logProbs(base ? base->header().nVocab : 0) {}

  llvm::Error operator()(uint64_t row, llvm::ArrayRef<float> logits, int32_t next) {
    if (save)
      writeSavedRow(*save, logits);
    if (!base) {
      result.nll.add(negativeLogLikelihood(logits, next));
      return llvm::Error::success();
    }
    if (llvm::Error error = base->read(row, logProbs))
      return error;
    PositionDivergence position = divergence(logits, logProbs, next);
    result.nll.add(position.nll);
    result.divergence.add(position);
    return llvm::Error::success();
  }

private:
  PerplexityResult &result;
  const SavedLogits *base;
  llvm::raw_ostream *save;
  std::vector<float> logProbs;
};

static llvm::Expected<PerplexityResult> runText(const Predictor &predictor, const Text &text,
                                                const SavedLogits *base, llvm::raw_ostream *save,
                                                Progress &progress) {
  const Chunks &chunks = text.chunks;
  if (save)
    writeSavedHeader(*save, {chunks.nCtx,
                             predictor.tokenizer->nTokens(),
                             int32_t(chunks.count),
                             {text.tokens.begin(),
                              text.tokens.begin() + ptrdiff_t(chunks.count * chunks.nCtx)}});
  PerplexityResult result;
  Gatherer gatherer(result, base, save);
  std::string running;
  for (uint64_t i = 0; i < chunks.count; ++i) {
    progress.show("chunk " + std::to_string(i + 1) + " of " + std::to_string(chunks.count) +
                      running,
                  double(i) / double(chunks.count));
    if (llvm::Error error = runChunk(*predictor.evaluator, chunks, i, text.tokens, gatherer))
      return std::move(error);
    result.running.push_back(perplexity(result.nll).value);
    running = ", PPL = ";
    llvm::raw_string_ostream(running) << llvm::format("%.4f", result.running.back());
  }
  return result;
}

/// Runs the text and, where asked, writes the file of logits, complete or not at all.
static llvm::Expected<PerplexityResult> runAndSave(const PerplexityOptions &o,
                                                   const Predictor &predictor, const Text &text,
                                                   const SavedLogits *base, Progress &progress) {
  if (o.save.empty())
    return runText(predictor, text, base, nullptr, progress);
  PerplexityResult result;
  llvm::Error error = writeOutput(o.save, [&](llvm::raw_ostream &out) -> llvm::Error {
    auto run = runText(predictor, text, base, &out, progress);
    if (!run)
      return run.takeError();
    result = std::move(*run);
    return llvm::Error::success();
  });
  if (error)
    return std::move(error);
  return result;
}

// ---- the answer ----

static Json estimateJson(Estimate e) { return {{"value", e.value}, {"error", e.error}}; }

static Json atJson(const std::vector<double> &values) {
  Json json = Json::object();
  for (auto [name, value] : llvm::zip_equal(fractionNames, values))
    json[name] = value;
  return json;
}

static void printResultJson(const Text &text, const PerplexityResult &r) {
  Estimate ppl = perplexity(r.nll);
  Json json = {{"ppl", ppl.value},
               {"ppl_error", ppl.error},
               {"nll", r.nll.mean()},
               {"nll_error", r.nll.error()},
               {"predicted", r.nll.count()},
               {"ctx", text.chunks.nCtx},
               {"chunks", text.chunks.count},
               {"running", r.running}};
  if (const DivergenceStatistics &d = r.divergence; d.count())
    json["divergence"] = {{"kl", estimateJson(d.kl())},
                          {"kl_at", atJson(d.klAt(klFractions))},
                          {"base_nll", estimateJson(d.nllBase())},
                          {"nll_difference", estimateJson(d.nllDifference())},
                          {"same_top", estimateJson(d.sameTop())},
                          {"delta_p", estimateJson(d.deltaP())},
                          {"delta_p_at", atJson(d.deltaPAt(klFractions))},
                          {"rms_delta_p", estimateJson(d.rmsDeltaP())}};
  printJson(json);
}

static void printEstimate(const char *name, const char *format, Estimate e, double factor = 1,
                          const char *unit = "") {
  llvm::outs() << llvm::format("%-20s", name) << llvm::format(format, factor * e.value) << " ± "
               << llvm::format(format, factor * e.error) << unit << "\n";
}

static void printAt(const char *name, const char *format, const std::vector<double> &values,
                    double factor = 1) {
  llvm::outs() << "  " << name << ":";
  for (auto [fraction, value] : llvm::zip_equal(fractionNames, values)) {
    bool number = fraction[0] == '9';
    llvm::outs() << (fraction == fractionNames[0] ? " " : ", ") << fraction
                 << (number ? " % " : " ") << llvm::format(format, factor * value);
  }
  llvm::outs() << "\n";
}

static void printDivergence(const DivergenceStatistics &d) {
  printEstimate("ln(PPL / base's)", "%.6f", d.nllDifference());
  printEstimate("KL divergence", "%.6f", d.kl(), 1, " nats");
  printAt("of positions", "%.6f", d.klAt(klFractions));
  printEstimate("same first choice", "%.3f", d.sameTop(), 100, " %");
  printEstimate("mean delta p", "%.3f", d.deltaP(), 100, " %");
  printEstimate("RMS delta p", "%.3f", d.rmsDeltaP(), 100, " %");
  printAt("of positions, in %", "%.3f", d.deltaPAt(klFractions), 100);
}

static void printResult(const Text &text, const PerplexityResult &r) {
  Estimate ppl = perplexity(r.nll);
  llvm::outs() << "PPL = " << llvm::format("%.4f", ppl.value) << " ± "
               << llvm::format("%.4f", ppl.error) << "; " << r.nll.count()
               << " tokens predicted in " << text.chunks.count
               << (text.chunks.count == 1 ? " chunk" : " chunks") << " of " << text.chunks.nCtx
               << "\n";
  if (r.divergence.count())
    printDivergence(r.divergence);
}

/// What needs no model. Error: options that exclude each other, a prompt that cannot be read.
static llvm::Error checkOptions(PerplexityOptions &o) {
  if (o.stride && !(o.save.empty() && o.base.empty()))
    return llvm::createStringError(
        "--stride: saved logits are of chunks without overlap; leave out "
        "--stride, or --save-logits and --kl-base");
  if (!o.save.empty())
    if (llvm::Error error =
            checkOutput(o.save, "--save-logits", {o.model.path, o.prompt.file, o.base}))
      return error;
  if (o.base.empty() || hasPrompt(o.prompt))
    return readPrompt(o.prompt);
  return llvm::Error::success();
}

static int measure(PerplexityOptions &o) {
  if (llvm::Error error = checkOptions(o))
    return fail(std::move(error));
  auto base = openBase(o);
  if (!base)
    return fail(base.takeError());
  Progress progress(o.model);
  auto predictor = load(o);
  progress.clear();
  if (!predictor)
    return fail(predictor.takeError());
  const SavedLogits *saved = *base ? &**base : nullptr;
  auto text = cutText(o, saved, *predictor);
  if (!text)
    return fail(text.takeError());
  auto result = runAndSave(o, *predictor, *text, saved, progress);
  progress.clear();
  if (!result) {
    fail(result.takeError());
    return interrupted() ? Interrupted : InputError;
  }
  if (o.json)
    printResultJson(*text, *result);
  else
    printResult(*text, *result);
  return Done;
}

void addPerplexity(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<PerplexityOptions>();
  CLI::App *c = program.add_subcommand("perplexity", "how well a model predicts a text");
  addModelOptions(*c, o->model);
  addPromptOptions(*c, o->prompt);
  o->session.nCtx = 512;
  addSessionOptions(*c, o->session);
  o->ctxOption = c->get_option("--ctx")->description("tokens in a chunk; 0: the model's context");
  c->add_option(
       "--stride", o->stride,
       "tokens from chunk to chunk, whose last so many count; 0: chunks do not overlap and "
       "the second half of each counts")
      ->check(range(0u, 1u << 30))
      ->capture_default_str();
  c->add_option("--chunks", o->nChunks, "chunks to run, at most; 0: all")
      ->check(range(uint64_t(0), uint64_t(1) << 30))
      ->capture_default_str();
  c->add_option("--save-logits", o->save, "write the logits as llama.cpp's llama-perplexity does");
  c->add_option(
      "--kl-base", o->base,
      "compare with logits that vetro or llama-perplexity saved; without a text theirs is "
      "read");
  c->add_flag("--reference", o->reference, "run the interpreter instead; slow");
  addRoundOption(*c, o->model);
  c->add_flag("--json", o->json, "one object: ppl, ppl_error, nll, running, divergence, ...");
  c->footer("The figures are the same to the bit for any --threads and --ubatch.\n"
            "Examples:\n"
            "  vetro perplexity model.gguf -f wiki.test.raw\n"
            "  vetro perplexity f16.gguf -f wiki.test.raw --chunks 20 --save-logits f16.logits\n"
            "  vetro perplexity q4.gguf --kl-base f16.logits");
  c->callback([o, &exitCode] {
    installInterruptHandler();
    exitCode = measure(*o);
  });
}

} // namespace vetro::cli
