// Edits at work: between the steps of a plan, and in the interpreter.
//
// A value that a step writes is changed there, between two steps: nothing else of the run changes,
// and an edit that changes nothing leaves all bits. A value inside a fused step is first taken out:
// the passes that put it there are switched off at its site (exposeValues), as --disable would.
#pragma once

#include "runtime/engine/Edit.h"
#include "runtime/engine/Reference.h"
#include "runtime/engine/Session.h"

namespace vetro {

/// Adds to options.disable what it takes to have every value of the edits written by a step of its
/// own. Error: a name that no value has.
llvm::Error exposeValues(const gguf::File &file, ModelOptions &options, llvm::ArrayRef<Edit> edits);

/// The model with every value of the edits written by a step of its own: `model` itself, or another
/// one of the same file. Error: exposeValues', what loading refuses.
llvm::Expected<std::shared_ptr<const Model>> modelFor(std::shared_ptr<const Model> model,
                                                      llvm::ArrayRef<Edit> edits);

/// Whether it is this value that an edit changes.
bool editMatches(const Edit &edit, llvm::StringRef name);

/// The values that edits change, found in a graph.
struct EditPlaces;

/// Changes values of a session's runs.
class Editor : public StepObserver {
public:
  /// `nTokens`: of the prompt. Error: a name that no step writes (exposeValues has it written),
  /// what ValueEdit::create refuses.
  static llvm::Expected<std::unique_ptr<Editor>>
  create(const Model &model, llvm::ArrayRef<Edit> edits, int64_t nTokens);
  ~Editor() override;
  /// Sees every step's values after their edits; may be null.
  StepObserver *next = nullptr;

  bool wants(uint32_t step) override { return steps[step] || (next && next->wants(step)); }
  void after(uint32_t step, PlanRunner &runner) override;
  /// Changes a value of a run of one sequence from its start that holds the rows of all tokens.
  void applyToWhole(mlir::Operation *op, unsigned result, ref::Tensor &t);
  /// Error: an edit that changed no number in the runs so far.
  llvm::Error checkUsed() const;

private:
  Editor() = default;
  std::unique_ptr<EditPlaces> places;
  std::vector<mlir::Operation *> steps; ///< the plan's; null: nothing of it is edited
};

/// Makes the interpreter change values in the runs that follow; onResult is taken. What it returns
/// is an error if an edit has changed no number so far. Error: as Editor::create.
llvm::Expected<std::function<llvm::Error()>>
editReference(Reference &reference, llvm::ArrayRef<Edit> edits, int64_t nTokens);

} // namespace vetro
