// How the units of a step are divided among threads: contiguous ranges that depend on the counts
// alone, so that a thread meets the same rows (and the memory it touched first) in every run.
#pragma once
#include <cstdint>

namespace vetro {

struct Range {
  uint32_t begin, end;
  friend bool operator==(const Range &, const Range &) = default;
};

/// Thread `thread`'s share of units [0, count); inner edges are multiples of `align` (>= 1). Shares
/// differ by at most one alignment unit; trailing ones may be empty.
/// Example: 10 units, align 4, 2 threads -> [0, 8) and [8, 10).
constexpr Range threadRange(uint32_t count, uint32_t align, uint32_t thread, uint32_t nThreads) {
  uint64_t blocks = (uint64_t(count) + align - 1) / align;
  auto edge = [&](uint64_t t) {
    uint64_t unit = (blocks * t + nThreads - 1) / nThreads * align;
    return uint32_t(unit < count ? unit : count);
  };
  return {edge(thread), edge(thread + 1)};
}

} // namespace vetro
