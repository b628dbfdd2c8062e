// Adds a constant to chosen tokens' logits, or bans them.
#pragma once
#include "runtime/sampling/Candidates.h"
#include "llvm/Support/Error.h"
#include <utility>

namespace vetro {

/// logit[id] += bias; minus infinity bans the token. Biases of one id add up. Needs id order.
struct LogitBias {
  static constexpr const char *name = "logit-bias";
  std::vector<std::pair<int32_t, float>> biases;

  bool active() const { return !biases.empty(); }
  void apply(Candidates &c) const;
  /// Errors: an id outside the vocabulary; a bias that is neither finite nor minus infinity.
  llvm::Error check(size_t nVocab) const;
};

} // namespace vetro
