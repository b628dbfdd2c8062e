// The places of the largest numbers of a row: which experts a token goes to.
#include "runtime/kernels/cpu/Name.h"

#include <stdint.h>

/// Whether a comes before b in descending order: NaN after every number.
VT_INLINE bool greater(float a, float b) { return a > b || (b != b && a == a); }

/// Place of the largest x[i], i in [begin, end), that comes after place `last` in descending order
/// (equal numbers, and NaNs: the lower place first); `none` where there is none. last = none: from
/// the top.
VT_INLINE int32_t next(const float *x, int32_t begin, int32_t end, int32_t last, int32_t none) {
  int32_t best = none;
  for (int32_t i = begin; i < end; ++i) {
    bool after = last == none || greater(x[last], x[i]) || (!greater(x[i], x[last]) && i > last);
    if (after && (best == none || greater(x[i], x[best])))
      best = i;
  }
  return best;
}

/// Bit g is set where group g is one of the `used` with the largest sums of their two largest
/// numbers; at most 64 groups.
VT_INLINE uint64_t bestGroups(const float *x, int32_t n, int32_t groups, int32_t used) {
  float score[64];
  int32_t size = n / groups;
  for (int32_t g = 0; g < groups; ++g) {
    int32_t first = next(x, g * size, g * size + size, -1, -1);
    int32_t second = next(x, g * size, g * size + size, first, -1);
    score[g] = x[first] + (second < 0 ? 0.0f : x[second]);
  }
  uint64_t kept = 0;
  for (int32_t i = 0, last = -1; i < used; ++i) {
    last = next(score, 0, groups, last, -1);
    kept |= uint64_t(1) << last;
  }
  return kept;
}

/// places[0..k) of the k largest of x[0..n), n >= k, the largest first; of equal numbers the lower
/// place first, and NaN after every number. With groups > 1 only numbers of the `used` best groups
/// (n / groups numbers each), which hold k numbers at least.
VT_EXPORT void VT_NAME(vt_top_k)(const float *x, uint32_t n, uint32_t k, uint32_t groups,
                                 uint32_t used, int32_t *places) {
  int32_t size = (int32_t)(n / groups), last = -1;
  uint64_t kept = groups > 1 ? bestGroups(x, (int32_t)n, (int32_t)groups, (int32_t)used) : 1;
  for (uint32_t j = 0; j < k; ++j) {
    int32_t best = -1;
    for (uint32_t g = 0; g < groups; ++g) {
      if (!(kept >> g & 1))
        continue;
      int32_t here = next(x, (int32_t)g * size, (int32_t)g * size + size, last, -1);
      if (here >= 0 && (best < 0 || greater(x[here], x[best])))
        best = here;
    }
    places[j] = last = best;
  }
}
