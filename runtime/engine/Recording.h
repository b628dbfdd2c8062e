// A run to look at: its trace, and, where its model is there, any value at any of its tokens.
// Looking changes nothing: a token is visited again from the cache that the run has left, which
// gives the same bits, with the same edits, and what fused steps swallowed is recomputed from their
// inputs.
#pragma once

#include "runtime/engine/Editor.h"
#include "runtime/engine/Tracer.h"

namespace vetro {

/// How to record a run.
struct RecordOptions {
  SessionOptions session;
  GenerateOptions generate;
  std::vector<Edit> edits;   ///< made while it runs
  bool parseSpecial = false; ///< of a prompt's text that is explained again
  /// Called with the text as it comes; may be empty.
  std::function<void(llvm::StringRef)> onText = {};
};

/// What records the run of a trace's document again: as many tokens, the same sampler and context.
/// Error: its sampler's options are not what a tracer writes.
llvm::Expected<RecordOptions> optionsOf(const nlohmann::ordered_json &document);

class Recording {
public:
  /// Runs the prompt and generates. With edits it is modelFor() them that runs. Errors: what
  /// running and editing refuse.
  static llvm::Expected<std::unique_ptr<Recording>> record(std::shared_ptr<const Model> model,
                                                           const TracedPrompt &prompt,
                                                           const RecordOptions &options);
  /// A trace alone: only the values that it keeps can be seen.
  static std::unique_ptr<Recording> of(std::unique_ptr<TraceFile> trace);
  /// A trace with the model that made it, whose tokens run again. Error: another model, other
  /// options.
  static llvm::Expected<std::unique_ptr<Recording>> of(std::unique_ptr<TraceFile> trace,
                                                       std::shared_ptr<const Model> model);

  const TraceFile &trace() const { return *file; }
  const nlohmann::ordered_json &document() const { return file->document(); }
  /// Null: the trace is alone.
  const Model *model() const { return owner.get(); }
  std::shared_ptr<const Model> sharedModel() const { return owner; }
  /// What `vetro diff --json` printed of this run, to be shown beside it; null: nothing was given.
  const nlohmann::ordered_json &comparison() const { return compared; }
  /// Takes it. Error: it is something else.
  llvm::Error compareWith(nlohmann::ordered_json diff);
  /// Which of its rows is a value's.
  std::optional<size_t> comparisonRow(llvm::StringRef name) const;
  /// How many tokens ran: those before the one that was drawn last.
  size_t nRun() const { return ran; }

  /// The rows of one token of some values, each without its first axis, in the order of `names`;
  /// one that has no row there, or that cannot be had, has no data. Of what the cache holds it is
  /// the token's own cell; scores and probabilities are those of the cells up to its own. Errors:
  /// what running refuses.
  llvm::Expected<std::vector<HookValue>> values(size_t position, llvm::ArrayRef<std::string> names);
  /// Whether a value can be seen at this token.
  bool has(size_t position, llvm::StringRef name) const;
  /// Whether its numbers are those that ran, which is quick to see, and not recomputed.
  bool isRan(size_t position, llvm::StringRef name) const;
  /// Of a step at one token: each of its results against its recomputation. The model is there.
  llvm::Expected<std::vector<Proof>> prove(size_t position, uint32_t step);
  /// The logits after a token had `name` been `row`: what a layer would say were it the last. The
  /// model is there. Errors: what editing refuses.
  llvm::Expected<std::vector<float>> logitsWith(size_t position, llvm::StringRef name,
                                                const HookValue &row);
  /// The sampler's stages after a token, run again from the state they had: the trace keeps the
  /// likeliest candidates of each, here `top` has all of them. The model is there, and something
  /// was drawn after the token. Errors: what running refuses; the trace's sampler is damaged.
  llvm::Expected<std::vector<SampleRecord::Stage>> sampleAgain(size_t position);

private:
  explicit Recording(std::unique_ptr<TraceFile> file);
  llvm::Error attach(std::shared_ptr<const Model> model, SessionOptions options);
  llvm::Error readKept(size_t position, llvm::ArrayRef<std::string> names);
  llvm::Error run(size_t position, llvm::ArrayRef<std::string> names);
  llvm::Error visit(size_t position, StepObserver *observer, llvm::ArrayRef<Edit> edits,
                    llvm::function_ref<llvm::Error(llvm::ArrayRef<float> logits)> look);

  std::unique_ptr<TraceFile> file;
  std::shared_ptr<const Model> owner;
  std::unique_ptr<Session> session;
  nlohmann::ordered_json compared;
  llvm::StringMap<size_t> comparedRows;
  std::vector<Edit> edits;
  llvm::StringMap<Hook> hooks; ///< that the model offers
  size_t ran = 0;
  size_t keptPosition = SIZE_MAX;  ///< of what is in `kept`
  llvm::StringMap<HookValue> kept; ///< values that were seen there
};

} // namespace vetro
