// The file that a command writes (-o, --svg, --html): whether it can be written is asked before the
// work, and it is complete or not there.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <type_traits>

namespace vetro::cli {

/// Whether `path`, given with `option`, may become a file. Errors: no name, one of `inputs`, which
/// the command reads (empty ones are none), a folder, a device or pipe (a finished file would take
/// its place), a parent folder that is missing or may not be written.
llvm::Error checkOutput(llvm::StringRef path, llvm::StringRef option = "-o",
                        llvm::ArrayRef<std::string> inputs = {});

/// Writes the file at `path`, which checkOutput() took; until all is written it has another name.
/// Error: `write` fails or it could not be written, and then it is as it was.
llvm::Error writeOutput(llvm::StringRef path,
                        llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);
/// The same where only the writing itself can fail.
template <typename Write>
  requires std::is_void_v<std::invoke_result_t<Write, llvm::raw_ostream &>>
llvm::Error writeOutput(llvm::StringRef path, Write write) {
  return writeOutput(path, [&](llvm::raw_ostream &out) {
    write(out);
    return llvm::Error::success();
  });
}

} // namespace vetro::cli
