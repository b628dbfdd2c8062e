// Checking answers: what is right is computed when it is asked for, by running the model that the
// program has now; no answer is written down anywhere.
#pragma once

#include "labs/Folder.h"
#include "runtime/engine/Options.h"
#include "runtime/trace/Safetensors.h"

namespace vetro::labs {

/// What an exercise's answer is held to; the kind of the exercise tells which fields count.
struct Truth {
  std::vector<double> numbers = {};                 ///< all other kinds
  std::vector<std::vector<std::string>> words = {}; ///< Words: of each word its spellings
  std::vector<int64_t> shape = {};                  ///< Program: of the result
  std::vector<NamedTensor> inputs = {};             ///< Program: what it is run on
};
using Truths = llvm::StringMap<Truth>;

enum class Status { Right, Wrong, Unanswered };

/// What became of one answer.
struct Verdict {
  Status status;
  std::string text = {}; ///< for people: what is wrong, what was expected in kind; never the answer
};

/// What a lab has besides its texts. One row of a table in Check.cpp.
struct LabCode {
  llvm::StringLiteral number;
  /// Writes files that depend on the model or the seed; null: there are none.
  llvm::Error (*prepare)(const Folder &folder, const ModelOptions &tiny);
  /// What is right for this folder. Error: what the engine refuses.
  llvm::Expected<Truths> (*truths)(const Folder &folder, const ModelOptions &tiny);
};
extern const LabCode graphByHand, sixteenSteps, normAndRope, bugHunt;

/// The options of the model `tiny`, the one inside the program. `cacheDir`: of compiled plans.
ModelOptions tinyModel(std::string cacheDir);

/// Folder::start, and the files that the lab's code makes. Errors of both; then there is no folder.
llvm::Expected<Folder> start(const Lab &lab, llvm::StringRef path, uint64_t seed,
                             const ModelOptions &tiny);
/// The verdict on each exercise, in order. Errors: Folder::answers', what the engine refuses.
llvm::Expected<std::vector<Verdict>> check(const Lab &lab, const Folder &folder,
                                           const ModelOptions &tiny);

} // namespace vetro::labs
