// How exact the kernels promise to be: the counts from which bounds of proofs are made.
//
// A sum of n rounded products, taken in any order, differs from the exact one by at most
// r * 2^-24 * sum|a*b| (to first order), r the largest number of roundings that one product passes
// on its way into the sum (Higham 2002, "Accuracy and Stability of Numerical Algorithms", section
// 3.1). Example: 576 products in four chains of fused multiply-adds, whose ends are added in pairs:
// r = 576 / 4 + 2.
#pragma once

#include "mlir/IR/Operation.h"

namespace vetro::ir {

/// How many roundings to F32 one number passes, at most, in the step of the plain op `op`.
/// `length`: terms of its sum (K of a product, D of a norm, cells of a softmax), 1 where it has
/// none. They are relative to sum|a*b| of a product or sum and to |y| elsewhere, but to |x| in
/// gelu, gelu_erf and gelu_quick, and to |x1| + |x2| in rope. 0: the op only moves numbers.
double kernelRoundings(mlir::Operation *op, int64_t length);

} // namespace vetro::ir
