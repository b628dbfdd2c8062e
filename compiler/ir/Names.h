// One name for a value, everywhere: names are MLIR locations. A frontend's op carries
// loc("blk.3.q_rope"); a fused op carries its own name around those it replaced, or a name for each
// of its results.
#pragma once

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <source_location>
#include <vector>

namespace vetro::ir {

/// loc("name"), or loc("name"("file":line:column)) where it is told.
mlir::Location nameLoc(mlir::MLIRContext *context, llvm::StringRef name,
                       std::optional<mlir::Location> source = {});
/// A line of our own source, its file from the repository's root on: "passes/FuseRope.cpp".
mlir::Location sourceLoc(mlir::MLIRContext *context, const std::source_location &where);
/// Names of values that the op with this location replaced.
std::vector<std::string> replacedNames(mlir::Location loc);
/// Where in the frontend's text a value was made: "frontends/arch/llama.cpp:24"; empty: not told.
std::string sourceOf(mlir::Location loc);

/// loc("name"(fused[...])): what a fused op carries, the locations of all it replaced inside.
mlir::Location fusedNameLoc(llvm::StringRef name, llvm::ArrayRef<mlir::Operation *> replaced);

/// loc(fused<["blk.3.q", "blk.3.k"]>[unknown]): the names of an op with several results, one each.
mlir::Location resultNamesLoc(llvm::ArrayRef<mlir::Operation *> replaced);

/// The name of the value this op defines, of the first where there are several; empty for an
/// unnamed one.
llvm::StringRef nameOf(mlir::Operation *op);
llvm::StringRef nameOf(mlir::Location loc);

/// The layer in "blk.N...."; -1 where the name has none.
int layerOf(llvm::StringRef name);

} // namespace vetro::ir
