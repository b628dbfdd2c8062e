// Cuts after the k best.
#include "runtime/sampling/TopK.h"

namespace vetro {

void TopK::apply(Candidates &c) const {
  if (k >= c.size())
    return;
  c.sortPrefix(k);
  c.keepFirst(k);
}

} // namespace vetro
