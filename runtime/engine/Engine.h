// The token's seven stages in order. Everything else is reached from here.
#pragma once

#include "runtime/engine/Evaluator.h"
#include "runtime/sampling/Chain.h"
#include "runtime/tokenizer/StreamDecoder.h"
#include "runtime/tokenizer/Tokenizer.h"

namespace vetro {

struct GenerateOptions {
  uint32_t nPredict = 128;
  bool ignoreEos = false;
  SamplingOptions sampling;
};

enum class StopReason { Length, EndOfGeneration, Context, Interrupt };
const char *stopName(StopReason reason);

struct Timings {
  double promptMs = 0;         ///< from the first token run to the first logits
  std::vector<double> tokenMs; ///< of each token run after the prompt
};

struct Generation {
  std::vector<int32_t> ids; ///< generated, with a final end-of-generation id
  std::string text;         ///< without that id
  StopReason stop = StopReason::Length;
  Timings timings;
};

/// Watches a generation, and changes nothing of it. An error ends it.
class GenerationWatcher {
public:
  virtual ~GenerationWatcher() = default;
  virtual llvm::Error beforeBatch(llvm::ArrayRef<BatchToken>) { return llvm::Error::success(); }
  virtual llvm::Error afterBatch(double /*ms*/) { return llvm::Error::success(); }
  /// Where the sampler writes down what it does; null: nowhere.
  virtual SampleRecord *record() { return nullptr; }
  /// A token was drawn from these logits; `before`: the sampler's state until then.
  virtual llvm::Error sampled(int32_t, const SamplingState & /*before*/, llvm::ArrayRef<float>) {
    return llvm::Error::success();
  }
};

/// Runs the prompt and generates. `onText` gets whole characters as they come.
/// Errors: an empty prompt; what decoding or sampling refuses.
llvm::Expected<Generation> generate(Evaluator &evaluator, const Tokenizer &tokenizer,
                                    llvm::ArrayRef<int32_t> prompt, const GenerateOptions &options,
                                    llvm::function_ref<void(llvm::StringRef)> onText,
                                    GenerationWatcher *watcher = nullptr);

} // namespace vetro
