// The dialect's meaning as plain loops: slow, obvious, and what every other path is tested against.
//
// Two modes, one code: a graph as the frontend built it gives `reference` (weights dequantised, no
// activation quantisation); the same graph after select-kernels gives `as-selected`, since what was
// selected (int8 records, KV type) stands in the types. Fused ops are expanded, never interpreted.
#pragma once

#include "compiler/ir/Vetro.h"
#include "compiler/reference/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"

namespace vetro::ref {

/// Where the interpreter reads weights. Must outlive the interpreter.
class WeightSource {
public:
  virtual ~WeightSource() = default;
  /// Row `row` of the weight, dequantised into `out` (the length of the last axis).
  virtual void readRow(llvm::StringRef name, int64_t row, float *out) const = 0;
  /// The part of each of them that is a minimum added to scale * code; it writes nothing where
  /// there is none, and `out` holds zeros before. Bounds need it.
  virtual void readMinima(llvm::StringRef, int64_t, float *) const {}
};

/// Where it keeps state. A slot is one position of one sequence. Must outlive the interpreter.
class StateStore {
public:
  virtual ~StateStore() = default;
  virtual void store(llvm::StringRef state, int32_t slot, const float *x, int64_t n) = 0;
  virtual void load(llvm::StringRef state, int32_t slot, float *out, int64_t n) const = 0;
};

/// A value, and by how much a kernel's may differ from it, element by element (Bounds.h): shaped as
/// the value, or empty: not at all, or not asked for.
struct Bounded {
  Tensor value, bound;
};

/// Where a program that computes in a coarser type rounds; ours computes in F32 between.
class Rounding {
public:
  virtual ~Rounding() = default;
  /// A number of that type.
  virtual float round(float x) const = 0;
  /// Whether the op's results are rounded; inside an op only rope rounds: cos, sin, products.
  virtual bool rounds(mlir::Operation *op) const = 0;
};

struct InterpreterOptions {
  /// Rounds like another program; null: not at all. Must outlive the interpreter.
  const Rounding *rounding = nullptr;
  /// Sums of matmul, norms and softmax in double instead of float.
  bool doubleSums = false;
  /// Bounds of all values as well. They hold for sums in float.
  bool bounds = false;
  /// With `bounds`: how often the other side rounds a sum of `length` terms; empty: as a kernel.
  std::function<double(mlir::Operation *, int64_t length)> countRoundings;
  /// Called with every value right after it was computed; what it leaves there, others read. Its
  /// bound is empty where nothing may differ, or without `bounds`.
  std::function<void(mlir::Operation *, unsigned result, Bounded &)> onResult;
  /// Called with every named value after that.
  std::function<void(mlir::Operation *, unsigned result, const Tensor &)> onValue;
  /// Runs fn(i) for all i < n, in any order; empty: a plain loop. Results do not depend on it.
  std::function<void(int64_t n, llvm::function_ref<void(int64_t)> fn)> parallelFor;
};

/// Runs `func` (fused ops are expanded on the way) on `inputs`, one for each argument, and returns
/// the values it returns. Error: an op that has no meaning here, or an id out of a table's range.
llvm::Expected<std::vector<Tensor>> interpret(mlir::func::FuncOp func,
                                              llvm::ArrayRef<Tensor> inputs,
                                              const WeightSource &weights, StateStore &state,
                                              const InterpreterOptions &options = {});

/// Replaces every fused op of the function by its expansion, as interpret() does.
void expandFusedOps(mlir::func::FuncOp func);

/// Runs one op (fused or not) alone on `operands`; state and weight operands are looked up by the
/// symbols that define them. Returns its results, or of an op that stores what it stores, before
/// it is rounded; with bounds where options.bounds. Inner values reach options.onValue.
llvm::Expected<std::vector<Bounded>> interpretOp(mlir::Operation *op,
                                                 llvm::ArrayRef<Bounded> operands,
                                                 const WeightSource &weights, StateStore &state,
                                                 const InterpreterOptions &options = {});

} // namespace vetro::ref
