// The words of a node of a drawing, as plain text: what an op is, its results with their types,
// what it reads, what it was told. A drawing needs nothing else of the op, so that it can be made
// again from what a trace keeps.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace vetro::viz {

/// What an op is to a reader; decides its colour and its CSS class.
struct Kind {
  llvm::StringLiteral name;   ///< class in the SVG: "matmul"
  llvm::StringLiteral fill;   ///< colour of the box
  llvm::StringLiteral border; ///< colour of the frame and of the name
};
/// All kinds, in the order of the legend.
llvm::ArrayRef<Kind> kinds();

/// What an op of our dialect is to a reader, as an index of kinds(): "rms_norm" is a norm.
unsigned kindNamed(llvm::StringRef mnemonic);

struct OperandText {
  std::string text;    ///< "blk.0.attn_q.weight 576x576 q4_1, 207 KB", "positions", "blk.0.q"
  std::string port;    ///< its name where an op reads several values: "residual"; else empty
  bool inside = false; ///< written inside the node; else an edge reaches it
  bool handle = false; ///< a weight or a state: has a line of its own
};

struct ResultText {
  std::string name, type; ///< "blk.0.q", "[T, 9, 64] f32"
};

struct NodeText {
  std::string op;    ///< "vetro.rms_norm"
  unsigned kind = 0; ///< index of kinds()
  std::vector<ResultText> results = {};
  std::string shape = {}; ///< of the first: "[T, 9, 64]", T tokens, C cache cells, R output rows
  std::vector<OperandText> operands = {};
  std::vector<std::string> lines = {}; ///< "eps 1e-5": the attributes that say what happens
  std::vector<std::string> inner = {}; ///< names of the values that a fused op holds

  const Kind &kindOf() const { return kinds()[kind]; }
  /// Whether the op only renames axes: drawn small.
  bool isShape() const { return kindOf().name == "shape"; }
  /// "rms_norm".
  llvm::StringRef mnemonic() const {
    llvm::StringRef name = op;
    name.consume_front("vetro.");
    return name;
  }
};

/// The words of an op, of whose operands `inside` are written inside its node.
NodeText textOf(mlir::Operation *op, llvm::ArrayRef<mlir::Value> inside);

/// "[T, 576] f32", "[T, 576] int8 record".
std::string typeText(mlir::Value v);

} // namespace vetro::viz
