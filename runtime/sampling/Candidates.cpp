// The operations that samplers share.
#include "runtime/sampling/Candidates.h"
#include <algorithm>
#include <cassert>
#include <cmath>

namespace vetro {

void Candidates::fill(llvm::ArrayRef<float> logits) {
  assert(logits.size() == buffer.size());
  n = logits.size();
  sorted = 0;
  for (size_t i = 0; i < n; ++i)
    buffer[i] = {int32_t(i), logits[i], 0};
}

void Candidates::sortPrefix(size_t count) {
  count = std::min(count, n);
  if (count <= sorted)
    return;
  auto from = buffer.begin() + sorted, to = buffer.begin() + count, end = buffer.begin() + n;
  if ((to - from) * 16 < end - from) { // a small heap: nearly one comparison per candidate
    std::partial_sort(from, to, end, before);
  } else {
    if (to != end)
      std::nth_element(from, to - 1, end, before);
    std::sort(from, to, before);
  }
  sorted = count;
}

void Candidates::keepFirst(size_t count) {
  assert(count >= 1 && count <= n);
  n = count;
  sorted = std::min(sorted, n);
}

void Candidates::keepFrom(float threshold) {
  threshold = std::min(threshold, maxLogit());
  size_t kept = 0, keptSorted = 0;
  for (size_t i = 0; i < n; ++i)
    if (buffer[i].logit >= threshold) {
      keptSorted += i < sorted;
      buffer[kept++] = buffer[i];
    }
  n = kept;
  sorted = keptSorted;
}

float Candidates::maxLogit() const {
  if (sorted)
    return buffer[0].logit;
  float max = buffer[0].logit;
  for (size_t i = 1; i < n; ++i)
    max = std::max(max, buffer[i].logit);
  return max;
}

double Candidates::softmax() {
  float max = maxLogit();
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    buffer[i].p = std::exp(buffer[i].logit - max);
    sum += buffer[i].p;
  }
  return sum;
}

} // namespace vetro
