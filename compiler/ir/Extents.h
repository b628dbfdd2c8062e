// How long the dynamic axes of a value are: each `?` counts tokens, output rows or KV cells.
#pragma once

#include "compiler/ir/Vetro.h"

namespace vetro::ir {

enum class Axis : uint8_t { Tokens, Outputs, Cells };

/// What each dynamic axis of v counts, in order. Follows the ops back to the graph's inputs.
llvm::SmallVector<Axis, 2> dynamicAxes(mlir::Value v);

/// Elements of v = scale * nTokens^tokens * nOutputs^outputs * nCells^cells.
struct Extent {
  uint64_t scale = 1;
  uint8_t tokens = 0, outputs = 0, cells = 0;
};
Extent elementCount(mlir::Value v);
/// Times the length of that axis.
void multiply(Extent &e, Axis axis);

/// Bytes of v in memory: 4 per element, or the records of runtime/abi/Kernel.h.
Extent byteCount(mlir::Value v);

/// Whether the op is work at run time; weights, state handles and reshapes are not.
bool isStep(mlir::Operation *op);

/// The value whose memory v shares: reshapes are looked through.
mlir::Value storageOf(mlir::Value v);

} // namespace vetro::ir
