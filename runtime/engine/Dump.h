// Named values of one prompt: what `vetro dump` writes and Python's Model.dump() returns.
#pragma once

#include "runtime/engine/Editor.h"
#include "runtime/engine/Hooks.h"
#include "runtime/engine/RunOptions.h"

#include "llvm/Support/GlobPattern.h"

namespace vetro {

/// Which names are asked for, as globs: "blk.*.l_out".
class HookGlobs {
public:
  /// Error: a text that is no glob.
  static llvm::Expected<HookGlobs> create(llvm::ArrayRef<std::string> texts);
  bool match(llvm::StringRef name) const;
  /// Error: a glob that takes none of these names.
  llvm::Error checkAllUsed(llvm::ArrayRef<llvm::StringRef> names) const;

private:
  std::vector<std::pair<std::string, llvm::GlobPattern>> patterns;
};

/// The values of a run in the order of its steps, the ids that it read, and how it ran.
struct Dump {
  std::string how; ///< describeRun()
  std::vector<int32_t> ids;
  std::vector<HookValue> values;
  std::string edits; ///< that were made, as text; empty: none
};

/// Runs `ids` in a session of its own; values that were computed are labelled `ran`, values that
/// fusion swallowed `recomputed`. It is modelFor() the edits that runs. Errors: a glob that
/// no hook matches, what decoding and Editor refuse; std::errc::interrupted after Ctrl-C.
llvm::Expected<Dump> dumpRun(std::shared_ptr<const Model> model, SessionOptions options,
                             llvm::ArrayRef<int32_t> ids, const HookGlobs &globs,
                             llvm::ArrayRef<Edit> edits = {});

/// Runs `ids` in the interpreter, which `options` made; values are labelled `reference`. Errors as
/// dumpRun().
llvm::Expected<Dump> dumpReference(Reference &reference, const ModelOptions &options,
                                   llvm::ArrayRef<int32_t> ids, const HookGlobs &globs,
                                   llvm::ArrayRef<Edit> edits = {});

/// Keeps the last row of every value whose first axis counts tokens.
void keepLastRows(Dump &dump);

/// The metadata of a dump's file: producer, ids, positions ("all", "last"), how it ran, and each
/// value's label under "label:NAME".
std::vector<std::pair<std::string, std::string>> metadataOf(const Dump &dump,
                                                            llvm::StringRef positions);

} // namespace vetro
