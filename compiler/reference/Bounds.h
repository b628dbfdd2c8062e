// By how much a kernel's result may differ from the interpreter's, element by element.
//
// With u = 2^-24, an op's result differs by at most r * u * magnitude from rounding, where r counts
// the roundings of both sides (the kernel's: compiler/ir/Roundings.h), and by what the differences
// of its operands come to. A fused op's bound is that of its expansion, with the counts that the op
// declares. Nothing here is fitted to what runs; second-order terms are covered by one factor.
//
// Example: y = residual + x @ w.T, x as int8 records, K = 64, sum|x*w| = 10, y = 2. The product:
// r = 64/16 + 5 for the kernel and 64/16 + 19 here, 32 * 2^-24 * 10 = 1.9e-5; the sum rounds once
// on both sides, 2 * 2^-24 * 2 = 2.4e-7. Bound: 1.9e-5 + 2.4e-7.
#pragma once

#include "compiler/reference/Ops.h"

namespace vetro::ref {

/// The kernel's roundings where it computes an op with a sum of so many terms.
using CountRoundings = llvm::function_ref<double(mlir::Operation *op, int64_t length)>;

/// The bounds of `y = op(in)`, shaped as y; empty where nothing may differ. `bounds`: those of the
/// operands, each shaped as its operand or empty. Error: as evaluate().
llvm::Expected<Tensor> boundOf(mlir::Operation *op, llvm::ArrayRef<Operand> in,
                               llvm::ArrayRef<const Tensor *> bounds, const Tensor &y,
                               CountRoundings kernel, const Context &context);

} // namespace vetro::ref
