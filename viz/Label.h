// The label of a node: the value's name, what the op does, the result's shape and
// storage, and a line for each input that is written inside.
#pragma once

#include "viz/Picture.h"

namespace vetro::viz {

/// For a quoted DOT string and for text inside an HTML label. Text from files may hold anything:
/// controls, broken UTF-8 and what XML refuses come out as \xNN.
std::string quoted(llvm::StringRef text);
/// As part of a URL, %22 for a quote: Graphviz writes URLs into SVG as they are.
std::string inUrl(llvm::StringRef text);
std::string html(llvm::StringRef text);

/// The HTML label of a node, with a port i<N> for each operand that an edge reaches and r<N> for
/// each of several results. `reached` are the operands that edges reach.
std::string labelOf(const Node &node, llvm::ArrayRef<unsigned> reached);

/// All there is to say about a node in one line each, for its tooltip.
std::string tooltipOf(const Node &node);

} // namespace vetro::viz
