// Nucleus sampling (Holtzman et al. 2019, arXiv:1904.09751).
#pragma once
#include "runtime/sampling/Candidates.h"

namespace vetro {

/// Keeps the shortest prefix, in order, whose probabilities sum to at least p. p >= 1: off.
struct TopP {
  static constexpr const char *name = "top-p";
  float p = 1;

  bool active() const { return p < 1; }
  void apply(Candidates &c) const;
};

} // namespace vetro
