// Counts the recent tokens by sorting a copy of the window: it is short, and the vocabulary is not.
#include "runtime/sampling/Penalties.h"
#include <algorithm>
#include <cassert>

namespace vetro {

void Penalties::apply(Candidates &c, const History &history, std::vector<int32_t> &scratch) const {
  assert(c.inIdOrder());
  llvm::ArrayRef<int32_t> recent = history.tokens();
  auto begin = scratch.begin(), end = std::copy(recent.begin(), recent.end(), begin);
  std::sort(begin, end);
  while (begin != end) {
    auto next = std::upper_bound(begin, end, *begin);
    float &logit = c[*begin].logit;
    logit = logit > 0 ? logit / repeat : logit * repeat;
    logit -= float(next - begin) * frequency + presence;
    begin = next;
  }
}

} // namespace vetro
