// Tables of screens as lines of text.
#pragma once

#include "runtime/terminal/Text.h"

namespace vetro::terminal {

/// Tables below each other, `width` columns wide. A table that is too wide becomes one paragraph a
/// row, "title value   title value". `chosenLine` gets the line of the chosen row.
std::vector<Line> tableLines(llvm::ArrayRef<screens::Table> tables, unsigned width, size_t chosen,
                             size_t &chosenLine);
/// A map: cells as shades, a column each; the row of the accented cell is marked.
std::vector<Line> mapLines(const screens::Table &map, unsigned width);

} // namespace vetro::terminal
