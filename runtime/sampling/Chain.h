// The sampler chain: the token's sixth stage, from logits to the next token.
#pragma once
#include "runtime/sampling/Dist.h"
#include "runtime/sampling/Greedy.h"
#include "runtime/sampling/LogitBias.h"
#include "runtime/sampling/MinP.h"
#include "runtime/sampling/Penalties.h"
#include "runtime/sampling/Record.h"
#include "runtime/sampling/Temperature.h"
#include "runtime/sampling/TopK.h"
#include "runtime/sampling/TopP.h"
#include <string>
#include <tuple>

namespace vetro {

/// Everything off: greedy. The fields are those of the stages.
struct SamplingOptions {
  std::vector<std::pair<int32_t, float>> logitBias;
  uint32_t penaltyLastN = 64;
  float repeatPenalty = 1, frequencyPenalty = 0, presencePenalty = 0;
  uint32_t topK = 0;
  float topP = 1, minP = 0;
  float temperature = 0;
  uint64_t seed = 0;
};

/// What a chain remembers between tokens: copy it to go back there.
struct SamplingState {
  Rng rng;
  History history;
};

/// One chain per sequence; a value, copyable. Used by one thread at a time.
class Chain {
public:
  /// Errors: an option outside its range (named, with the range).
  static llvm::Expected<Chain> create(const SamplingOptions &options, size_t nVocab);

  /// The next token for `logits` [nVocab]. Does not accept it. Equal logits, options and state give
  /// the equal token, whether or not it is recorded. Errors: a logit that is not finite; all tokens
  /// banned. Allocates nothing but on error.
  llvm::Expected<int32_t> sample(llvm::ArrayRef<float> logits, SampleRecord *record = nullptr);

  /// Appends a token (of the prompt, or sampled) to the history that penalties look at.
  void accept(int32_t token);

  /// Back to the seed and to an empty history.
  void reset();

  const SamplingState &state() const { return current; }
  /// Returns to a state of a chain with the same options.
  void restore(const SamplingState &state) { current = state; }

  /// The chain in order, inactive stages marked `?`:
  /// "logits -> ?logit-bias -> ?penalties -> top-k -> ?top-p -> ?min-p -> temp -> dist".
  std::string describe() const;

private:
  Chain(const SamplingOptions &options, size_t nVocab);
  void apply(Penalties &stage) { stage.apply(candidates, current.history, scratch); }
  template <typename Stage> void apply(Stage &stage) { stage.apply(candidates); }
  llvm::Error runStages(SampleRecord *record);
  const char *lastStage() const;

  // The order of the chain is the order of these types.
  std::tuple<LogitBias, Penalties, TopK, TopP, MinP, Temperature> stages;
  [[maybe_unused]] size_t nVocab; // for asserts
  uint64_t seed;
  SamplingState current;
  Candidates candidates;
  std::vector<int32_t> scratch; // [lastN] for the penalties
};

} // namespace vetro
