// x86-64-v3: AVX2, FMA and F16C. A vector of 16 lanes is two registers.
#pragma once
#include "runtime/kernels/cpu/simd/Vec.h"
#include <immintrin.h>

namespace vetro {

/// Tokens whose sums fit the registers, in a matmul of int8 and of float weights.
inline constexpr int matmulTokens = 4, floatTokens = 1;

/// Half I of a 64-byte vector, and two halves joined.
template <int I, class V> VT_INLINE __m256i half(V v) {
  return load<__m256i>((const char *)&v + 32 * I);
}
template <class V> VT_INLINE V join(__m256i lo, __m256i hi) {
  V v;
  store((char *)&v, lo);
  store((char *)&v + 32, hi);
  return v;
}

/// a*b + c, rounded once.
VT_INLINE f32x16 fma(f32x16 a, f32x16 b, f32x16 c) { return __builtin_elementwise_fma(a, b, c); }

/// f16 bits to float, exact.
VT_INLINE f32x16 fromF16(u16x16 h) {
  __m256 lo = _mm256_cvtph_ps(load<__m128i>(&h));
  __m256 hi = _mm256_cvtph_ps(load<__m128i>((const char *)&h + 16));
  return join<f32x16>((__m256i)lo, (__m256i)hi);
}

/// Float to f16 bits, to nearest even.
VT_INLINE u16x16 toF16(f32x16 v) {
  u16x16 out;
  store((char *)&out, _mm256_cvtps_ph((__m256)half<0>(v), _MM_FROUND_TO_NEAREST_INT));
  store((char *)&out + 16, _mm256_cvtps_ph((__m256)half<1>(v), _MM_FROUND_TO_NEAREST_INT));
  return out;
}

/// Nearest integer, ties to even.
VT_INLINE i32x16 roundToInt(f32x16 v) {
  return join<i32x16>(_mm256_cvtps_epi32((__m256)half<0>(v)),
                      _mm256_cvtps_epi32((__m256)half<1>(v)));
}

VT_INLINE f32x16 sqrt(f32x16 v) { return __builtin_elementwise_sqrt(v); }

/// acc + per lane the dot of four weights with the four activations in the bytes of `a`, exact.
/// Weights are unsigned and at most 127; or signed, prepared by asSigned(), and the caller has
/// subtracted signedOffset * sum of activations from the sum.
template <bool Signed> VT_INLINE i32x16 dotWord(i32x16 acc, u8x64 w, int32_t a) {
  const __m256i one = _mm256_set1_epi16(1);
  __m256i x = _mm256_set1_epi32(a), x0 = x, x1 = x, w0 = half<0>(w), w1 = half<1>(w);
  if constexpr (Signed) { // |w| * (a with w's sign)
    x0 = _mm256_sign_epi8(x, w0), x1 = _mm256_sign_epi8(x, w1);
    w0 = _mm256_abs_epi8(w0), w1 = _mm256_abs_epi8(w1);
  }
  // A pair's sum is at most 2 * 128 * 127 in magnitude, which fits 16 bits.
  __m256i p0 = _mm256_madd_epi16(_mm256_maddubs_epi16(w0, x0), one);
  __m256i p1 = _mm256_madd_epi16(_mm256_maddubs_epi16(w1, x1), one);
  return acc + join<i32x16>(p0, p1);
}
inline constexpr int signedOffset = 0;
VT_INLINE u8x64 asSigned(u8x64 w) { return w; }

/// Bits 4i..4i+3 of each lane, as bit 4 of the lane's bytes 0..3.
VT_INLINE u8x64 fifthBits(u32x16 bits, int i) { return spreadBits(bits, i); }

/// Per byte, table[index]; index < 16.
VT_INLINE u8x64 lookup16(const int8_t *table, u8x64 index) {
  __m256i t = _mm256_broadcastsi128_si256(load<__m128i>(table));
  return join<u8x64>(_mm256_shuffle_epi8(t, half<0>(index)),
                     _mm256_shuffle_epi8(t, half<1>(index)));
}

} // namespace vetro
