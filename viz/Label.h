// The text and the colours of a node: the value's name, what the op does, the result's shape and
// storage, and a line for each input that is written inside.
#pragma once

#include "viz/Picture.h"

namespace vetro::viz {

/// What an op is to a reader; decides its colour and its CSS class.
struct Kind {
  llvm::StringLiteral name;   ///< class in the SVG: "matmul"
  llvm::StringLiteral fill;   ///< colour of the box
  llvm::StringLiteral border; ///< colour of the frame and of the name
};
const Kind &kindOf(mlir::Operation *op);
/// All kinds, in the order of the legend.
llvm::ArrayRef<Kind> kinds();

/// Whether the op only renames axes: drawn small.
bool isShapeOp(mlir::Operation *op);

/// "[T, 9, 64]", T tokens, C cache cells, R output rows; "" for a value without a shape.
std::string shapeText(mlir::Value v);
/// "[T, 576] f32", "[T, 576] int8 record".
std::string typeText(mlir::Value v);
/// "blk.0.attn_q.weight 576x576 q4_1, 207 KB"; "positions"; "blk.0.k_cache 3x64 f16".
std::string insideText(mlir::Value v);
/// "eps 1e-5", "window 512", "kernel vt_matmul_q4_1_a8": the attributes that say what happens.
llvm::SmallVector<std::string> attributeLines(mlir::Operation *op);
/// Name of the i-th operand where an op reads several values: "residual"; else "".
llvm::StringRef operandName(mlir::Operation *op, unsigned i);

/// For a quoted DOT string and for text inside an HTML label. Text from files may hold anything:
/// controls, broken UTF-8 and what XML refuses come out as \xNN.
std::string quoted(llvm::StringRef text);
std::string html(llvm::StringRef text);

/// The HTML label of a node, with a port i<N> for each operand that an edge reaches and r<N> for
/// each of several results. `reached` are the operands that edges reach.
std::string labelOf(const Node &node, llvm::ArrayRef<unsigned> reached);

/// All there is to say about a node in one line each, for its tooltip.
std::string tooltipOf(const Node &node);

} // namespace vetro::viz
