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
  Tracer(Session &session, TraceWriter &writer);
  void describePrompt(const TracedPrompt &prompt, const SamplingOptions &sampling,
                      const Chain &chain);
  void addToken(int32_t id, int64_t batch, int64_t row);
  llvm::Error addValues();

  Session &session;
  const Tokenizer &tokenizer;
  TraceWriter &writer;
  nlohmann::ordered_json document;
  std::vector<Hook> hooks;                ///< wanted
  std::unique_ptr<HookRecorder> recorder; ///< of the batch that runs
  StepClock clock;
  SampleRecord sampleRecord;
};

} // namespace vetro
