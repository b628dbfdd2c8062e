// Frequencies of the rotary embedding. Source: Peng et al. 2023, "YaRN", section 3.
#include "compiler/reference/Rope.h"

#include <algorithm>
#include <cmath>

namespace vetro::ref {

/// The (real) pair index whose wavelength makes `turns` rotations in nCtxOrig positions.
static double pairOfTurns(const RopeParams &p, double turns) {
  return p.nDims * std::log(p.nCtxOrig / (turns * 2 * M_PI)) / (2 * std::log(double(p.base)));
}

std::vector<float> ropeFrequencies(const RopeParams &p) {
  std::vector<float> freq(p.nDims / 2);
  double low = 0, high = 1;
  if (p.extFactor > 0) {
    low = std::max(0.0, std::floor(pairOfTurns(p, p.betaFast)));
    high = std::min(p.nDims - 1.0, std::ceil(pairOfTurns(p, p.betaSlow)));
  }
  for (int64_t i = 0; i < p.nDims / 2; ++i) {
    double f = std::pow(double(p.base), -2.0 * i / p.nDims);
    double ramp = std::clamp((i - low) / std::max(0.001, high - low), 0.0, 1.0);
    double keep = p.extFactor > 0 ? (1 - ramp) * p.extFactor : 0;
    freq[i] = float(f * p.freqScale * (1 - keep) + f * keep);
  }
  return freq;
}

float ropeMagnitude(const RopeParams &p) {
  if (p.extFactor <= 0)
    return p.attnFactor;
  return p.attnFactor * (1 + 0.1f * std::log(1 / p.freqScale));
}

} // namespace vetro::ref
