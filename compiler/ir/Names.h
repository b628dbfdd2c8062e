// One name for a value, everywhere: names are MLIR locations. A frontend's op carries
// loc("blk.3.q_rope"); a fused op carries its own name around those it replaced.
#pragma once

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

namespace vetro::ir {

/// loc("name").
mlir::Location nameLoc(mlir::MLIRContext *context, llvm::StringRef name);

/// loc("name"(fused[...])): what a fused op carries, the locations of all it replaced inside.
mlir::Location fusedNameLoc(llvm::StringRef name, llvm::ArrayRef<mlir::Operation *> replaced);

/// The name of the value this op defines; empty for an unnamed one.
llvm::StringRef nameOf(mlir::Operation *op);

/// The layer in "blk.N...."; -1 where the name has none.
int layerOf(llvm::StringRef name);

} // namespace vetro::ir
