// How far a correct reference may be from the interpreter on the same inputs: the one table of
// floors.
//
// A floor is the bound of compiler/reference/Bounds.h with the reference in the kernel's place: by
// element, and made of the element's own sum|a*b|, so that one wrong element in a large value
// shows. How another program orders its sums is not known. Roundings of a sum of n terms in any
// order then come to at most 6 sqrt(n) instead of n (Higham and Mary 2019, "A new approach to
// probabilistic rounding error analysis": lambda sqrt(n) with a chance of 2 exp(-lambda^2/2) to
// fail, 3e-8).
#pragma once

#include "compiler/reference/Interpreter.h"

namespace vetro {

/// What the reference computes in: the unit roundoff of its values.
struct ReferenceType {
  llvm::StringLiteral name; ///< as PyTorch calls it: "float32"
  double unit;              ///< 2^-24
};

/// float64, float32, float16, bfloat16, or null.
const ReferenceType *findReferenceType(llvm::StringRef name);

/// Roundings of `op` in the reference, in units of 2^-24: 6 sqrt(length), at most length, of the
/// sum, and 8 for all else (functions of a mathematical library are within 4 units). In a coarser
/// type weights and results are rounded to it, 2 roundings, and in rope also the angles' functions
/// and both products, 5.
double referenceRoundings(mlir::Operation *op, int64_t length, const ReferenceType &type);

/// What reading and storing add to the bound of `result` of `op`: rows of a weight that the
/// reference keeps in a coarser type are rounded to it once.
void addStorageFloor(mlir::Operation *op, const ReferenceType &type, ref::Bounded &result);

/// The bound of a reference's value as it is read: exact, or rounded to F32 from a finer type.
ref::Tensor readingFloor(const ref::Tensor &value, const ReferenceType &type);

/// The largest mean square error over mean square of a value of so many tokens: 1e-9 (90 dB), that
/// is 530 units of 2^-24: roundings of hundreds of ops in a row, none of them correlated, stay
/// below it. Beyond 1000 tokens it grows with their square, as the error of F32 angles does; in a
/// coarser type with the square of its unit.
double energyFloor(const ReferenceType &type, uint64_t nTokens);

/// Rope: the reference computes angles in F32, ours are exact but for the frequency, kept in F32.
/// An angle of a radians is off by (5 + ln base) * 2^-24 * a: a power (2), its reciprocal, the
/// product with the position, our frequency (1 each), and the exponent 2i/d, whose rounding the
/// logarithm of the base enlarges. It moves both numbers of its pair as far as the pair is long.
/// Adds that to the bound of `result`, a rope at `positions`, one a token.
void addAngleFloor(mlir::Operation *rope, llvm::ArrayRef<int32_t> positions, ref::Bounded &result);

} // namespace vetro
