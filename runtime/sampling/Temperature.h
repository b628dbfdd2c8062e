// Flattens or sharpens the distribution.
#pragma once
#include "runtime/sampling/Candidates.h"

namespace vetro {

/// logit /= t. 1: off. 0 is no temperature but means greedy (Greedy.h).
struct Temperature {
  static constexpr const char *name = "temp";
  float t = 0;

  bool greedy() const { return t == 0; }
  bool active() const { return t != 1 && !greedy(); }
  void apply(Candidates &c) const;
};

} // namespace vetro
