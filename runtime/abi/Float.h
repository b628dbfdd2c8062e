// 16-bit floats to 32-bit and back, bit by bit: f16 is IEEE binary16, bf16 the upper half of an
// IEEE binary32. Freestanding; rounds to nearest even; keeps denormals, infinities and NaN.
#pragma once
#include <stdint.h>

namespace vetro {

/// f16 bits to float, exact. Example: 0x3c00 is 1, 0x0001 is 2^-24.
constexpr float f16ToFloat(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16;
  uint32_t magnitude = h & 0x7fff;
  if (magnitude >= 0x7c00) // infinity, or NaN made quiet as the CPU's conversion does
    return __builtin_bit_cast(float, sign | (magnitude > 0x7c00 ? 0x7fc00000u : 0x7f800000u) |
                                         (magnitude & 0x3ff) << 13);
  if (magnitude < 0x0400) { // zero and denormals: magnitude * 2^-24 is exact
    float value = (float)magnitude * 0x1p-24f;
    return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, value) | sign);
  }
  return __builtin_bit_cast(float, sign | ((magnitude << 13) + (112u << 23)));
}

/// Float to f16 bits; values of 65520 and more become infinity.
constexpr uint16_t floatToF16(float f) {
  uint32_t bits = __builtin_bit_cast(uint32_t, f);
  uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) // NaN: keep the upper payload bits, quiet
    return (uint16_t)(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
  if (magnitude >= 0x477ff000) // 65520: would round beyond 65504
    return (uint16_t)(sign | 0x7c00);
  if (magnitude < 0x38800000) { // below 2^-14: denormal, in units of 2^-24
    // Adding 0.5 aligns the units with the last bit of the sum, which rounds to nearest even.
    float sum = __builtin_bit_cast(float, magnitude) + 0.5f;
    return (uint16_t)(sign | (__builtin_bit_cast(uint32_t, sum) - 0x3f000000));
  }
  uint32_t odd = (magnitude >> 13) & 1;
  return (uint16_t)(sign | ((magnitude - (112u << 23) + 0xfff + odd) >> 13));
}

/// bf16 bits to float, exact.
constexpr float bf16ToFloat(uint16_t h) { return __builtin_bit_cast(float, (uint32_t)h << 16); }

/// Float to bf16 bits.
constexpr uint16_t floatToBf16(float f) {
  uint32_t bits = __builtin_bit_cast(uint32_t, f);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

} // namespace vetro
