// Sorts only as far as the nucleus reaches: a growing prefix, not the whole vocabulary.
#include "runtime/sampling/TopP.h"
#include <algorithm>

namespace vetro {

void TopP::apply(Candidates &c) const {
  double wanted = p * c.softmax(), sum = 0;
  size_t i = 0;
  for (size_t prefix = 128; i < c.size(); prefix *= 8) {
    c.sortPrefix(prefix);
    for (size_t end = std::min(prefix, c.size()); i < end; ++i)
      if ((sum += c[i].p) >= wanted)
        return c.keepFirst(i + 1);
  }
}

} // namespace vetro
