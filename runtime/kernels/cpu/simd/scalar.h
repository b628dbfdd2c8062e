// The x86-64 baseline (SSE2). The only level without fused multiply-add: results may differ from
// the other levels' in the last bits.
#pragma once
#include "runtime/abi/Float.h"
#include "runtime/kernels/cpu/simd/Vec.h"
#include <emmintrin.h>

namespace vetro {

/// Tokens whose sums fit the registers, in a matmul of int8 and of float weights.
inline constexpr int matmulTokens = 4, floatTokens = 1;

/// a*b + c, rounded twice.
VT_INLINE f32x16 fma(f32x16 a, f32x16 b, f32x16 c) { return a * b + c; }

/// f16 bits to float, exact, as f16ToFloat but for 16 at once: the exponent is moved by a
/// multiplication, which also makes denormals right; infinity and NaN are put together apart.
VT_INLINE f32x16 fromF16(u16x16 h) {
  u32x16 bits = __builtin_convertvector(h, u32x16), magnitude = bits & 0x7fff;
  u32x16 finite = (u32x16)((f32x16)(magnitude << 13) * splat(0x1p112f));
  u32x16 quiet = magnitude > 0x7c00 ? splat(0x400000u) : splat(0u);
  u32x16 special = magnitude << 13 | quiet | 0x7f800000;
  u32x16 value = magnitude >= 0x7c00 ? special : finite;
  return (f32x16)(value | (bits & 0x8000) << 16);
}

/// Float to f16 bits, to nearest even.
VT_INLINE u16x16 toF16(f32x16 v) {
  u16x16 out;
  for (int i = 0; i < 16; ++i)
    out[i] = floatToF16(v[i]);
  return out;
}

/// Nearest integer, ties to even.
VT_INLINE i32x16 roundToInt(f32x16 v) {
  i32x16 out;
  for (int i = 0; i < 4; ++i) {
    __m128i r = _mm_cvtps_epi32(load<__m128>((const char *)&v + 16 * i));
    store((char *)&out + 16 * i, r);
  }
  return out;
}

VT_INLINE f32x16 sqrt(f32x16 v) {
  f32x16 out;
  for (int i = 0; i < 4; ++i)
    store((char *)&out + 16 * i, _mm_sqrt_ps(load<__m128>((const char *)&v + 16 * i)));
  return out;
}

/// Pairs of 16-bit products, added: lane i = a[2i]*b[2i] + a[2i+1]*b[2i+1].
VT_INLINE i32x16 maddPairs(i16x32 a, i16x32 b) {
  i32x16 out;
  for (int i = 0; i < 4; ++i) {
    __m128i x = load<__m128i>((const char *)&a + 16 * i);
    __m128i y = load<__m128i>((const char *)&b + 16 * i);
    store((char *)&out + 16 * i, _mm_madd_epi16(x, y));
  }
  return out;
}

/// acc + per lane the dot of four weights with the four activations in the bytes of `a`, exact.
/// Weights are unsigned and at most 127; or signed, prepared by asSigned(), and the caller has
/// subtracted signedOffset * sum of activations from the sum.
template <bool Signed> VT_INLINE i32x16 dotWord(i32x16 acc, u8x64 w, int32_t a) {
  i16x32 x = (i16x32)splat(a), low = (i16x32)((u16x32)w << 8); // even bytes on top
  i16x32 even = Signed ? low >> 8 : (i16x32)((u16x32)low >> 8);
  i16x32 odd = Signed ? (i16x32)w >> 8 : (i16x32)((u16x32)w >> 8);
  return acc + maddPairs(even, (i16x32)((u16x32)x << 8) >> 8) + maddPairs(odd, x >> 8);
}
inline constexpr int signedOffset = 0;
VT_INLINE u8x64 asSigned(u8x64 w) { return w; }

/// Bits 4i..4i+3 of each lane, as bit 4 of the lane's bytes 0..3.
VT_INLINE u8x64 fifthBits(u32x16 bits, int i) { return spreadBits(bits, i); }

/// Per byte, table[index]; index < 16.
VT_INLINE u8x64 lookup16(const int8_t *table, u8x64 index) {
  u8x64 out;
  for (int i = 0; i < 64; ++i)
    out[i] = (uint8_t)table[index[i]];
  return out;
}

} // namespace vetro
