// Inverse transform sampling over the candidates that are left.
#include "runtime/sampling/Dist.h"

namespace vetro {

size_t Dist::pick(Candidates &c, Rng &rng, double &draw) {
  double target = (draw = rng.uniform()) * c.softmax(), sum = 0;
  size_t last = 0; // rounding may leave the target at the very end: the last possible token then
  for (size_t i = 0; i < c.size(); ++i) {
    if (c[i].p > 0)
      last = i;
    if ((sum += c[i].p) > target)
      return i;
  }
  return last;
}

} // namespace vetro
