// x86-64-v4: AVX-512 F, BW, DQ, VL. A vector of 16 lanes is one register.
#pragma once
#include "runtime/kernels/cpu/simd/Vec.h"
#include <immintrin.h>

namespace vetro {

/// a*b + c, rounded once.
VT_INLINE f32x16 fma(f32x16 a, f32x16 b, f32x16 c) { return __builtin_elementwise_fma(a, b, c); }

/// f16 bits to float, exact.
VT_INLINE f32x16 fromF16(u16x16 h) { return (f32x16)_mm512_cvtph_ps((__m256i)h); }

/// Float to f16 bits, to nearest even.
VT_INLINE u16x16 toF16(f32x16 v) {
  return (u16x16)_mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT);
}

/// Nearest integer, ties to even.
VT_INLINE i32x16 roundToInt(f32x16 v) { return (i32x16)_mm512_cvtps_epi32((__m512)v); }

VT_INLINE f32x16 sqrt(f32x16 v) { return __builtin_elementwise_sqrt(v); }

/// Per byte, table[index]; index < 16.
VT_INLINE u8x64 lookup16(const int8_t *table, u8x64 index) {
  __m512i t = _mm512_broadcast_i32x4(load<__m128i>(table));
  return (u8x64)_mm512_shuffle_epi8(t, (__m512i)index);
}

/// Tokens whose sums fit the registers, in a matmul of int8 and of float weights.
inline constexpr int matmulTokens = 8, floatTokens = 6;

#ifndef __AVX512VNNI__ // vnni.h brings its own

/// acc + per lane the dot of four weights with the four activations in the bytes of `a`, exact.
/// Weights are unsigned and at most 127; or signed, prepared by asSigned(), and the caller has
/// subtracted signedOffset * sum of activations from the sum.
template <bool Signed> VT_INLINE i32x16 dotWord(i32x16 acc, u8x64 w, int32_t a) {
  i16x32 x = (i16x32)splat(a);
  if constexpr (Signed) { // even and odd bytes, widened to 16 bits
    i16x32 even = (i16x32)((u16x32)w << 8) >> 8, odd = (i16x32)w >> 8;
    i16x32 evenX = (i16x32)((u16x32)x << 8) >> 8, oddX = x >> 8;
    acc += (i32x16)_mm512_madd_epi16((__m512i)even, (__m512i)evenX);
    return acc + (i32x16)_mm512_madd_epi16((__m512i)odd, (__m512i)oddX);
  }
  // A pair's sum is at most 2 * 127 * 127, which fits 16 bits.
  __m512i pairs = _mm512_maddubs_epi16((__m512i)w, (__m512i)x);
  return acc + (i32x16)_mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
}
inline constexpr int signedOffset = 0;
VT_INLINE u8x64 asSigned(u8x64 w) { return w; }

/// Bits 4i..4i+3 of each lane, as bit 4 of the lane's bytes 0..3.
VT_INLINE u8x64 fifthBits(u32x16 bits, int i) { return spreadBits(bits, i); }

#endif

} // namespace vetro
