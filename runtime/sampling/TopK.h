// Keeps the k most likely tokens.
#pragma once
#include "runtime/sampling/Candidates.h"

namespace vetro {

/// Keeps the first k candidates in order. k = 0: off.
struct TopK {
  static constexpr const char *name = "top-k";
  uint32_t k = 0;

  bool active() const { return k != 0; }
  void apply(Candidates &c) const;
};

} // namespace vetro
