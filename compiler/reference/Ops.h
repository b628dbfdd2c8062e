// Each op's meaning, at most about 20 lines each. `in` are the operands' values.
#pragma once

#include "compiler/reference/Interpreter.h"

namespace vetro::ref {

/// What an op may need besides its operands.
struct Context {
  const WeightSource &weights;
  StateStore &state;
  const InterpreterOptions &options;

  void forEach(int64_t n, llvm::function_ref<void(int64_t)> fn) const {
    if (options.parallelFor)
      return options.parallelFor(n, fn);
    for (int64_t i = 0; i < n; ++i)
      fn(i);
  }
};

/// An operand: a value, or the symbol of a weight or state that is read row by row.
struct Operand {
  const Tensor *tensor = nullptr;
  llvm::StringRef symbol;
};

/// One row of an operand that may be a weight, into n floats.
void readRow(const Operand &x, int64_t row, int64_t n, float *out, const Context &c);

/// A whole operand, small weights (norms, biases) included; `v` is the operand's value in the
/// graph.
Tensor materialize(const Operand &x, mlir::Value v, const Context &c);

/// x repeated along missing axes and axes of length 1 until it has this shape.
Tensor repeat(const Tensor &x, const Shape &shape);

/// Computes `op` (no fused op) on `in`.
llvm::Expected<std::vector<Tensor>> evaluate(mlir::Operation *op, llvm::ArrayRef<Operand> in,
                                             const Context &context);

} // namespace vetro::ref
