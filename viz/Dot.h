// From a graph to Graphviz's DOT, by rules that keep a model of a thousand ops readable:
// identical layers are drawn once beside an overview, inputs are written inside the nodes, colours
// say what an op is, ids are stable, so that the same graph always gives the same text.
#pragma once

#include "viz/Overlay.h"
#include "viz/Picture.h"

#include "llvm/Support/Error.h"

namespace vetro::viz {

struct DotOptions {
  std::string title; ///< shown above the drawing
  std::string layer; ///< "": an overview and each distinct layer; "3": that layer; "all": the whole
  std::string around;               ///< name of a value: only what is near it
  unsigned hops = 2;                ///< how near, in ops
  const Overlay *overlay = nullptr; ///< numbers beside nodes; must outlive the drawing
};

/// The drawing of a function at any level. Errors: a layer or a name that the graph does not have.
/// Pure: thread-safe as long as nobody changes the IR.
llvm::Expected<std::string> toDot(mlir::FunctionOpInterface func, const DotOptions &options);
/// The same of a picture, as the function `name`. One that was read has no overview: `layer` or
/// `around` is given.
llvm::Expected<std::string> toDot(const Picture &picture, llvm::StringRef name,
                                  const DotOptions &options);

/// The nodes that such a drawing is of, in program order. Errors as toDot().
llvm::Expected<std::vector<unsigned>> nodesOf(const Picture &picture, const DotOptions &options);

/// Layers that do the same, in order of their first.
std::vector<std::vector<int>> layerKinds(const Picture &picture);

} // namespace vetro::viz
