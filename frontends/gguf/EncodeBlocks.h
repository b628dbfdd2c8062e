// What the encoders of small blocks (Encode.cpp) and super-blocks (EncodeK.cpp) share.
#pragma once
#include "runtime/abi/Float.h"
#include <algorithm>
#include <cstdint>
#include <cstring>

namespace vetro::gguf {

/// Writes one block.
using EncodeBlock = void(const float *x, uint8_t *block);

/// Blocks of 256 values: EncodeK.cpp.
EncodeBlock encodeQ2_K, encodeQ3_K, encodeQ4_K, encodeQ5_K, encodeQ6_K;

inline void storeU16(uint8_t *p, uint16_t v) { std::memcpy(p, &v, sizeof(v)); }
inline void storeF16(uint8_t *p, float v) { storeU16(p, floatToF16(v)); }

/// 1 / d, or 0 for 0: a block of equal values has all codes 0.
inline float inverse(float d) { return d == 0 ? 0 : 1 / d; }

/// The nearest integer, halves away from zero, limited to [low, high]; NaN gives `low`.
inline int nearest(float v, int low, int high) {
  float magnitude = v < 0 ? -v : v;
  if (!(magnitude < 1 << 22))
    return v > 0 ? high : low;
  int whole = static_cast<int>(magnitude);
  whole += magnitude - static_cast<float>(whole) >= 0.5f;
  return std::clamp(v < 0 ? -whole : whole, low, high);
}

/// The value of largest magnitude, with its sign; the first of several.
inline float extreme(const float *x, int n) {
  float best = 0, magnitude = 0;
  for (int i = 0; i < n; ++i)
    if (float m = x[i] < 0 ? -x[i] : x[i]; m > magnitude)
      magnitude = m, best = x[i];
  return best;
}

} // namespace vetro::gguf
