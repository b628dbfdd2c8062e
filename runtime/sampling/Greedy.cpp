// The maximum first, in lanes; then the first place where it stands.
#include "runtime/sampling/Greedy.h"
#include <algorithm>

namespace vetro {

size_t Greedy::pick(const Candidates &c) {
  size_t best = 0;
  for (size_t i = 1; i < c.size(); ++i)
    if (before(c[i], c[best]))
      best = i;
  return best;
}

int32_t Greedy::pick(llvm::ArrayRef<float> logits) {
  constexpr size_t lanes = 16;
  float best[lanes];
  std::fill(best, best + lanes, logits[0]);
  size_t i = 0;
  for (; i + lanes <= logits.size(); i += lanes)
    for (size_t j = 0; j < lanes; ++j)
      best[j] = logits[i + j] > best[j] ? logits[i + j] : best[j];
  for (; i < logits.size(); ++i)
    best[0] = std::max(best[0], logits[i]);
  float max = *std::max_element(best, best + lanes);
  return int32_t(std::find(logits.begin(), logits.end(), max) - logits.begin());
}

} // namespace vetro
