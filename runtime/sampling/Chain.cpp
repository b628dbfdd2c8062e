// Checks the options, orders the stages and runs them.
#include "runtime/sampling/Chain.h"
#include "llvm/Support/FormatVariadic.h"
#include <cassert>
#include <cmath>

namespace vetro {

static llvm::Error checkRange(const char *name, float value, float low, float high) {
  if (value >= low && value <= high) // false for NaN
    return llvm::Error::success();
  return llvm::createStringError("%s: found %g, expected a number from %g to %g", name,
                                 double(value), double(low), double(high));
}

static llvm::Error check(const SamplingOptions &o, size_t nVocab) {
  if (nVocab == 0)
    return llvm::createStringError(
        "sampling: the vocabulary is empty, expected at least one token");
  if (o.penaltyLastN > (1u << 24))
    return llvm::createStringError(
        llvm::formatv("repeat-last-n: found {0}, expected 0 to {1}", o.penaltyLastN, 1u << 24));
  if (auto e = LogitBias{o.logitBias}.check(nVocab))
    return e;
  if (auto e = checkRange("repeat-penalty", o.repeatPenalty, 1e-3f, 1e3f))
    return e;
  if (auto e = checkRange("frequency-penalty", o.frequencyPenalty, -1e3f, 1e3f))
    return e;
  if (auto e = checkRange("presence-penalty", o.presencePenalty, -1e3f, 1e3f))
    return e;
  if (auto e = checkRange("top-p", o.topP, 0, 1))
    return e;
  if (auto e = checkRange("min-p", o.minP, 0, 1))
    return e;
  return checkRange("temp", o.temperature, 0, 1e6f);
}

llvm::Expected<Chain> Chain::create(const SamplingOptions &options, size_t nVocab) {
  if (llvm::Error e = check(options, nVocab))
    return std::move(e);
  return Chain(options, nVocab);
}

Chain::Chain(const SamplingOptions &o, size_t nVocab)
    : stages(LogitBias{o.logitBias},
             Penalties{o.penaltyLastN, o.repeatPenalty, o.frequencyPenalty, o.presencePenalty},
             TopK{o.topK}, TopP{o.topP}, MinP{o.minP}, Temperature{o.temperature}),
      nVocab(nVocab), seed(o.seed),
      current{Rng::seeded(o.seed),
              History(std::get<Penalties>(stages).active() ? o.penaltyLastN : 0)},
      candidates(nVocab), scratch(o.penaltyLastN) {}

/// The index of the first value that is not finite, or the size.
static size_t firstNonFinite(llvm::ArrayRef<float> values) {
  uint32_t worst = 0; // exponents as integers: this loop becomes vector code, isfinite would not
  for (float v : values) {
    uint32_t exponent = std::bit_cast<uint32_t>(v) & 0x7f800000;
    worst = exponent > worst ? exponent : worst;
  }
  if (worst != 0x7f800000)
    return values.size();
  size_t i = 0;
  while (std::isfinite(values[i]))
    ++i;
  return i;
}

llvm::Error Chain::runStages(SampleRecord *record) {
  auto run = [&](auto &stage) {
    if (stage.active())
      apply(stage);
    if (record)
      record->add(stage.name, stage.active(), candidates);
  };
  run(std::get<LogitBias>(stages));
  run(std::get<Penalties>(stages));
  if (!std::isfinite(candidates.maxLogit()))
    return llvm::createStringError("logit-bias, penalties: no token is left with a finite logit, "
                                   "expected at least one; ban fewer tokens");
  // No cut removes the best token: greedy runs them only to show what they would do.
  if (std::get<Temperature>(stages).greedy() && !record)
    return llvm::Error::success();
  run(std::get<TopK>(stages));
  run(std::get<TopP>(stages));
  run(std::get<MinP>(stages));
  run(std::get<Temperature>(stages));
  return llvm::Error::success();
}

llvm::Expected<int32_t> Chain::sample(llvm::ArrayRef<float> logits, SampleRecord *record) {
  assert(logits.size() == nVocab);
  if (size_t bad = firstNonFinite(logits); bad != logits.size())
    return llvm::createStringError(
        llvm::formatv("logits: token {0} has {1}, expected a finite number; look for the first "
                      "tensor that is not finite with vetro dump",
                      bad, logits[bad]));
  const bool greedy = std::get<Temperature>(stages).greedy();
  if (greedy && !record && !std::get<LogitBias>(stages).active() &&
      !std::get<Penalties>(stages).active())
    return Greedy::pick(logits);
  candidates.fill(logits);
  if (record)
    record->begin(candidates);
  if (llvm::Error e = runStages(record))
    return std::move(e);
  double draw = 0;
  size_t i = greedy ? Greedy::pick(candidates) : Dist::pick(candidates, current.rng, draw);
  if (record)
    record->finish(lastStage(), candidates[i], draw);
  return candidates[i].id;
}

void Chain::accept(int32_t token) {
  assert(token >= 0 && size_t(token) < nVocab);
  current.history.accept(token);
}

void Chain::reset() {
  current.rng = Rng::seeded(seed);
  current.history.clear();
}

const char *Chain::lastStage() const {
  return std::get<Temperature>(stages).greedy() ? Greedy::name : Dist::name;
}

std::string Chain::describe() const {
  std::string text = "logits";
  std::apply(
      [&](const auto &...stage) {
        ((text += std::string(" -> ") + (stage.active() ? "" : "?") + stage.name), ...);
      },
      stages);
  return text + " -> " + lastStage();
}

} // namespace vetro
