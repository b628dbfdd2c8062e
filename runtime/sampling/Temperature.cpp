// Divides relative to the best logit: tiny temperatures must not overflow to infinity - infinity.
#include "runtime/sampling/Temperature.h"

namespace vetro {

void Temperature::apply(Candidates &c) const {
  float max = c.maxLogit();
  for (size_t i = 0; i < c.size(); ++i)
    c[i].logit = (c[i].logit - max) / t;
}

} // namespace vetro
