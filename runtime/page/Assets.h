// The page's own files, which the program holds: its HTML, styles, scripts, the chart library, and
// the sources of the passes that it shows.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace vetro::page {

/// A file by its path from the project's root, "runtime/page/assets/page.css", or "d3.min.js";
/// empty: there is none.
llvm::StringRef asset(llvm::StringRef path);

/// The scripts of the page, by name; together they are one function, whose order says nothing.
std::vector<llvm::StringRef> scripts();

} // namespace vetro::page
