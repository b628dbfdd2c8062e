// What a drawing shows of a graph: a node for each op that computes, an edge for each value that
// flows from one to another, and for each node the inputs that are written inside it.
// Weights, states, the graph's inputs and values that several layers share are never nodes: one
// long shared edge costs a layout more than a thousand nodes.
#pragma once

#include "compiler/ir/Vetro.h"
#include "viz/NodeText.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace vetro::viz {

/// The half of a layer that an op belongs to; None outside layers.
enum class Part : uint8_t { None, Attn, Ffn };

struct Node {
  mlir::Operation *op; ///< null in a picture that was read
  std::string name;    ///< of the value; empty for an op without a name
  std::string id;      ///< unique, and the same in every drawing of the same graph
  int layer = -1;
  Part part = Part::None;
  llvm::SmallVector<mlir::Value> inside = {}; ///< operands that are written inside the node
  NodeText text = {};
};

struct Edge {
  unsigned from, to; ///< indices of nodes
  mlir::Value value; ///< null in a picture that was read
  unsigned operand;  ///< of `to`
  unsigned result;   ///< of `from`
};

/// The picture of one function. Borrows the IR, which must outlive it.
class Picture {
public:
  explicit Picture(mlir::FunctionOpInterface func);
  /// Of nodes and edges that were read (GraphJson.h). Which layers are alike it does not know.
  Picture(std::vector<Node> nodes, std::vector<Edge> edges);

  llvm::ArrayRef<Node> nodes() const { return all; }
  llvm::ArrayRef<Edge> edges() const { return flows; }
  /// Layers in order: nodes whose names start with "blk.N.".
  llvm::ArrayRef<int> layers() const { return layerNumbers; }
  /// Nodes of a layer (-1: outside layers), in program order.
  llvm::SmallVector<unsigned> nodesOf(int layer) const;
  /// The node whose id or value has this name, or that holds it inside; -1 where there is none.
  int find(llvm::StringRef name) const;
  /// Names and ids that `find` knows, in order.
  std::vector<std::string> names() const;
  /// The value that flows along an edge.
  const ResultText &valueOf(const Edge &e) const { return all[e.from].text.results[e.result]; }

  /// Text that is equal for two layers exactly if they do the same: ops, attributes and types,
  /// with names, symbols and buffers left out.
  std::string body(int layer) const;

private:
  void addNodes(mlir::Block &block);
  void addEdges();
  void giveIds();
  int layerAt(mlir::Value v) const;
  std::string external(mlir::Value v, int layer) const;

  std::vector<Node> all;
  std::vector<Edge> flows;
  std::vector<int> layerNumbers;
  llvm::DenseMap<mlir::Operation *, unsigned> index;
};

/// The name of a value: of its op, or of the result where the op has several; an input's name.
std::string valueName(mlir::Value v);

/// The part of a layer that a name belongs to: "blk.3.ffn_up" to the feed-forward.
Part partOf(llvm::StringRef name);

} // namespace vetro::viz
