// Writes a generation down while it runs: `vetro run --trace`. What ran stays what it was: values
// are copied between steps, and only those that steps write; times are read from a clock.
#pragma once

#include "runtime/engine/Dump.h"
#include "runtime/engine/Engine.h"
#include "runtime/trace/TraceFile.h"

namespace vetro {

/// The prompt that a generation goes on from.
struct TracedPrompt {
  llvm::ArrayRef<int32_t> ids;
  const std::string *text = nullptr; ///< null: given as ids
  bool parseSpecial = false;
};

class Tracer : public GenerationWatcher {
public:
  /// Begins a trace of what `session`, which is fresh and outlives the tracer, will run. `hooks`:
  /// values of the run to keep, as globs over names that steps write; empty: none. Errors: a glob
  /// that no such name matches; what writing refuses.
  static llvm::Expected<std::unique_ptr<Tracer>>
  create(TraceWriter &writer, llvm::ArrayRef<std::string> hooks, Session &session,
         const TracedPrompt &prompt, const SamplingOptions &sampling);

  llvm::Error beforeBatch(llvm::ArrayRef<BatchToken> batch) override;
  llvm::Error afterBatch(double ms) override;
  SampleRecord *record() override { return &sampleRecord; }
  llvm::Error sampled(int32_t id, const SamplingState &before,
                      llvm::ArrayRef<float> logits) override;

  /// Says that the run is edited, and how.
  void noteEdit(llvm::StringRef text) { document["edits"].push_back(text.str()); }
  /// Completes the trace. Error: it cannot be written.
  llvm::Error finish(const Generation &generation);

private:
  // What happened, to be written out at the end: meanwhile the run waits.
  struct Batch {
    uint32_t first, nTokens, nOutputs;
    double ms = 0;
    std::vector<double> stepUs = {};
    std::string values = {}; ///< file; empty: none
  };
  struct Sampled {
    int32_t id;
    double draw;
    Rng rng;
    std::vector<SampleRecord::Stage> stages;
  };
  struct Token {
    int32_t id;
    int64_t batch = -1, row = 0; ///< -1: it did not run
    std::optional<Sampled> sampled = {};
  };

  Tracer(Session &session, TraceWriter &writer);
  void describePrompt(const TracedPrompt &prompt, const SamplingOptions &sampling,
                      const Chain &chain);
  llvm::Error addValues();
  nlohmann::ordered_json batchesJson() const;
  nlohmann::ordered_json tokensJson(size_t n) const;

  Session &session;
  const Tokenizer &tokenizer;
  TraceWriter &writer;
  nlohmann::ordered_json document;
  std::vector<Batch> batches;
  std::vector<Token> tokens;
  std::unique_ptr<HookRecorder> recorder; ///< null: no values are kept
  StepClock clock;
  SampleRecord sampleRecord;
};

} // namespace vetro
