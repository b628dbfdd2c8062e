// Frequencies of the rotary embedding, with the scalings that GGUF files name.
#pragma once
#include <cstdint>
#include <vector>

namespace vetro::ref {

struct RopeParams {
  int64_t nDims;
  float base, freqScale = 1, extFactor = 0, attnFactor = 1, betaFast = 32, betaSlow = 1;
  int64_t nCtxOrig = 0;
};

/// The parameters of a rope op, fused or not: all have the same attributes.
template <typename OpT> RopeParams ropeParams(OpT op) {
  return {int64_t(op.getNDims()),
          op.getBase().convertToFloat(),
          op.getFreqScale().convertToFloat(),
          op.getExtFactor().convertToFloat(),
          op.getAttnFactor().convertToFloat(),
          op.getBetaFast().convertToFloat(),
          op.getBetaSlow().convertToFloat(),
          int64_t(op.getNCtxOrig())};
}

/// For each pair i: radians per position, before any per-dimension factors. [nDims / 2].
/// Linear: base^(-2i/n) * freqScale. YaRN (extFactor > 0) keeps fast pairs unscaled and mixes by a
/// ramp between the pairs that turn betaFast and betaSlow times in nCtxOrig positions.
std::vector<float> ropeFrequencies(const RopeParams &p);

/// What cos and sin are multiplied with: attnFactor * (1 + 0.1 ln(1 / freqScale)) under YaRN.
float ropeMagnitude(const RopeParams &p);

} // namespace vetro::ref
