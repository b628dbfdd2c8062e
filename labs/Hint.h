// Which hint comes next.
#pragma once

#include "labs/Folder.h"

namespace vetro::labs {

struct Hint {
  std::string exercise;
  size_t number, count;            ///< this is hint `number` of `count`, from 1
  std::optional<std::string> text; ///< nothing: all were given
};

/// The next hint to an exercise; empty: to the first one that was not right at the last check. The
/// folder remembers it. Errors: no such exercise, all are right, the folder cannot be written.
llvm::Expected<Hint> nextHint(const Lab &lab, Folder &folder, llvm::StringRef exercise);

} // namespace vetro::labs
