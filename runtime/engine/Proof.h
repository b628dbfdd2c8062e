// The comparison of what a step computed with the interpreter's values and their bounds.
#pragma once

#include "compiler/reference/Interpreter.h"

namespace vetro {

/// How close a result of a step is to its recomputation.
struct Proof {
  std::string name; ///< of the value
  std::string op;
  /// The largest |difference| / bound of all elements of all rows; the bound is the op's own
  /// (compiler/reference/Bounds.h). Proved: at most 1.
  double worst = 0;
  uint64_t worstAt = 0;          ///< its flat index
  float ran = 0, recomputed = 0; ///< there
  double nmse = 0;               ///< mean square error / mean square, of an f32 result
  uint64_t values = 0;           ///< numbers compared
  uint64_t codesOff = 0;         ///< of a record, or of what is stored as f16: codes that differ
  uint64_t codesWrong = 0;       ///< of a record: codes that differ by more than one
  uint64_t ties = 0;             ///< of choices: taken from what was compared, being as good
};

/// Compares what ran with the interpreter's values and bounds, element by element; ids must be the
/// same. `codeSize`: of an int8 record what a code of each element is worth, else empty.
Proof compare(const ref::Tensor &ran, const ref::Bounded &recomputed,
              llvm::ArrayRef<float> codeSize);

/// The numbers as they are stored in f16, and how far from them a number within its bound before
/// the rounding may be stored. Example: 1 within 0.0004 is stored as 1 or as 1 - 2^-11, its lower
/// neighbour, never as 1 + 2^-10.
void roundToF16(ref::Bounded &stored);

} // namespace vetro
