// SVG from DOT, by Graphviz's programs: a layout that takes too long can only be ended from
// outside, which its library does not allow.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace vetro {

struct Drawing {
  std::string svg;
  std::string layout; ///< which of them drew it: "dot", "dot, straight edges", "osage"
};

/// Draws DOT. After `deadlineSec` seconds a layout is given up for a faster one (0: the fastest at
/// once). Errors: Graphviz is not installed or refuses the text, no room for temporary files.
llvm::Expected<Drawing> drawSvg(llvm::StringRef dot, unsigned deadlineSec);

} // namespace vetro
