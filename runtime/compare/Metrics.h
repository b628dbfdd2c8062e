// How far two values are from each other: several figures, because each hides something.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace vetro {

/// Of ours against a reference of the same shape. Mean square error is always over the reference's
/// mean square (not its variance): nmse = sum (a-b)^2 / sum b^2, snrDb = -10 log10 nmse.
struct Difference {
  uint64_t values = 0;
  double nmse = 0;    ///< 0: equal; infinite where the reference is 0 everywhere and ours is not
  double cosine = 1;  ///< blind to a constant factor
  double maxAbs = 0;  ///< the largest |a - b|, and where it is
  uint64_t maxAt = 0; ///< flat index
  float ours = 0, theirs = 0; ///< there
  double q999 = 0;            ///< 0.999 of all |a - b| are at most so large
  int64_t worstRow = -1,
          worstHead = -1; ///< of largest nmse on axis 0, and 1 of [T, H, d]; -1: none
  double rowNmse = 0, headNmse = 0;
  uint64_t nonFinite = 0; ///< places where exactly one of both is a number

  bool equal() const { return maxAbs == 0 && nonFinite == 0; }
  double snrDb() const;
};

/// Both hold as many numbers as `shape` says. Infinities of one sign and NaN on both sides are
/// equal.
Difference difference(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> ours,
                      llvm::ArrayRef<float> theirs);

/// "bf16" or "f16": the coarser type that all of `theirs` are numbers of and some of `ours` are
/// not; "" else. A model that computed in that type leaves this pattern.
llvm::StringRef roundedType(llvm::ArrayRef<float> ours, llvm::ArrayRef<float> theirs);

/// -10 log10 nmse; infinite for 0.
double snrDb(double nmse);

/// [3,0,17] for a flat index.
std::vector<int64_t> placeOf(llvm::ArrayRef<int64_t> shape, uint64_t flat);

/// ln of the sum of exp of all, in double and in order. Not finite where the largest is not.
double logSumExp(llvm::ArrayRef<float> x);

/// What a user sees of two rows-by-vocabulary tables of logits.
struct LogitDifference {
  double meanKl = 0, maxKl = 0; ///< nats, KL(reference || ours) of each row's softmax
  double top1 = 1, top10 = 1;   ///< rows of equal first choice; mean overlap of the ten best
  uint64_t worstRank = 0;       ///< of the reference's first choice among ours; 0: first
};
LogitDifference logitDifference(int64_t rows, llvm::ArrayRef<float> ours,
                                llvm::ArrayRef<float> theirs);

} // namespace vetro
