// How time grows with the size of the input, on a machine where other programs run.
#pragma once
#include <algorithm>
#include <utility>

namespace vetro::test {

/// The least times, in the unit of `time(n)`, for inputs of size `n` and 2`n`. Other programs only
/// ever add time, so both are measured at least twice, and again while the ratio is above `most`.
template <typename Time> std::pair<double, double> leastTimes(Time time, size_t n, double most) {
  double once = 1e9, twice = 1e9;
  for (int round = 0; round < 2 || (round < 8 && twice > most * once); ++round) {
    once = std::min(once, time(n));
    twice = std::min(twice, time(2 * n));
  }
  return {once, twice};
}

} // namespace vetro::test
