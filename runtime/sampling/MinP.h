// Min-p sampling (Nguyen et al. 2024, arXiv:2407.01082).
#pragma once
#include "runtime/sampling/Candidates.h"

namespace vetro {

/// Keeps the candidates at least `p` times as likely as the best one. p <= 0: off.
struct MinP {
  static constexpr const char *name = "min-p";
  float p = 0;

  bool active() const { return p > 0; }
  void apply(Candidates &c) const;
};

} // namespace vetro
