// One emitter an op: how its step is written, what a unit of its work is, how much scratch it
// needs.
#pragma once

#include "compiler/ir/Extents.h"
#include "compiler/lowering/StepBuilder.h"

#include "llvm/Support/Error.h"

namespace vetro {

struct Emitter {
  /// Writes the body of the step: computes units [begin, end).
  void (*emit)(StepBuilder &s, mlir::Operation *op);
  /// Number of units.
  ir::Extent (*units)(mlir::Operation *op);
  /// Bytes of scratch that each thread needs; null: none.
  ir::Extent (*scratch)(mlir::Operation *op) = nullptr;
};

/// Refuses a module that is not planned, or has steps that cannot be lowered: no @forward, steps
/// without buffers, operands from elsewhere.
llvm::Error checkPlanned(mlir::ModuleOp module);

/// The emitter of an op; null where it has none.
const Emitter *emitterFor(mlir::Operation *op);

// Emitters by family, each a table looked up by op name.
using EmitterTable = llvm::ArrayRef<std::pair<llvm::StringRef, Emitter>>;
EmitterTable normEmitters();
EmitterTable matmulEmitters();
EmitterTable ropeEmitters();
EmitterTable cacheEmitters();
EmitterTable elementwiseEmitters();
EmitterTable attentionEmitters();
EmitterTable shapeEmitters();
EmitterTable moeEmitters();

// Pieces that several families use.

/// Rows of v when all axes but the last are one: a natural unit.
ir::Extent rowCount(mlir::Value v);
/// Lengths of v's axes as i64: constants, or read from the batch.
llvm::SmallVector<mlir::Value> dimensions(StepBuilder &s, mlir::Value v);
/// Tokens or output rows of the batch, whichever the first axis of v counts, as i64.
mlir::Value batchRows(StepBuilder &s, mlir::Value v);
/// y[0..n) = rms_norm(x[0..n)) * w (w null: no weight).
void emitNormRow(StepBuilder &s, mlir::Value x, mlir::Value w, mlir::Value y, int64_t n, float eps);
/// Bytes from one record of x to the next, or from one row of floats to the next.
int64_t recordStride(mlir::Value x);
/// Rounds 32-value blocks [begin, end) of row `row` of a result that is kept as int8 records; x is
/// the address of block `begin`'s first float.
void emitRecords(StepBuilder &s, mlir::Value result, mlir::Value base, mlir::Value row,
                 mlir::Value begin, mlir::Value end, mlir::Value x);
/// Writes row `unit` of a result that may be a record: `body` gets the address of n floats to fill.
void emitRow(StepBuilder &s, mlir::Value result, mlir::Value base, mlir::Value unit,
             llvm::function_ref<void(mlir::Value)> body);
/// Scratch that emitRow needs.
ir::Extent rowScratch(mlir::Value result);
/// Where a row of a tensor of these dimensions (the last axis is the row) lies in another value:
/// sum of the row's index along each leading axis times that axis' stride in floats.
mlir::Value rowOffset(StepBuilder &s, llvm::ArrayRef<mlir::Value> dims,
                      llvm::ArrayRef<mlir::Value> strides, mlir::Value row);
/// Strides in floats of x against the axes of a value of `rank` axes: 0 where x is repeated.
llvm::SmallVector<mlir::Value> broadcastStrides(StepBuilder &s, mlir::Value x, unsigned rank);
/// f(x) of vetro.unary, on a vector.
mlir::Value emitUnary(StepBuilder &s, llvm::StringRef kind, mlir::Value x);
/// "k" or "v", from the symbol of a state handle.
llvm::StringRef stateKind(mlir::Value state);
/// The micro-kernel that stores one token's heads into this state.
std::string storeKernel(mlir::Value state);

} // namespace vetro
