// The last stage where a temperature is set: draws one candidate by its probability.
#pragma once
#include "runtime/sampling/Candidates.h"
#include "runtime/sampling/Rng.h"

namespace vetro {

struct Dist {
  static constexpr const char *name = "dist";
  /// Walks the candidates in list order until the sum of probabilities exceeds the draw (one number
  /// of `rng`, returned in `draw`), and returns the index where it does.
  static size_t pick(Candidates &c, Rng &rng, double &draw);
};

} // namespace vetro
