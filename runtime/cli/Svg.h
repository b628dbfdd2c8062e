// SVG from DOT, by Graphviz's programs: a layout that takes too long can only be ended from
// outside, which its library does not allow.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace vetro::cli {

/// Draws DOT into the file at `path`. After `deadlineSec` seconds a layout is given up for a faster
/// one (0: the fastest at once); returns the program that drew it: "dot", "dot, straight edges",
/// "osage". Errors: Graphviz is not installed, refuses the text, or the file cannot be written.
llvm::Expected<std::string> writeSvg(llvm::StringRef dot, llvm::StringRef path,
                                     unsigned deadlineSec);

} // namespace vetro::cli
