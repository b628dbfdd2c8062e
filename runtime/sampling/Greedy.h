// The last stage at temperature 0: the highest logit, ties go to the lower id.
#pragma once
#include "runtime/sampling/Candidates.h"

namespace vetro {

struct Greedy {
  static constexpr const char *name = "greedy";
  /// Index of the best candidate. Draws no random number.
  static size_t pick(const Candidates &c);
  /// The same straight from the logits (size >= 1, finite).
  static int32_t pick(llvm::ArrayRef<float> logits);
};

} // namespace vetro
