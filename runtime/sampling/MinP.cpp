// p_i >= p * p_max holds where logit_i >= logit_max + ln p: no softmax is needed.
#include "runtime/sampling/MinP.h"
#include <cmath>

namespace vetro {

void MinP::apply(Candidates &c) const { c.keepFrom(c.maxLogit() + std::log(p)); }

} // namespace vetro
