// x86-64-v3: AVX2, FMA and F16C. A vector of 16 lanes is two registers.
#pragma once
#include "runtime/kernels/cpu/simd/Vec.h"
#include <immintrin.h>

namespace vetro {

/// Tokens per register tile of a matmul.
inline constexpr int matmulTokens = 4;

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

/// Four unsigned weights <= 127 times four signed activations per lane, exact: a pair's sum is at
/// most 2 * 127 * 127, which fits 16 bits.
VT_INLINE i32x16 dot4(i32x16 acc, u8x64 w, i32x16 a) {
  const __m256i one = _mm256_set1_epi16(1);
  __m256i lo = _mm256_madd_epi16(_mm256_maddubs_epi16(half<0>(w), half<0>(a)), one);
  __m256i hi = _mm256_madd_epi16(_mm256_maddubs_epi16(half<1>(w), half<1>(a)), one);
  return acc + join<i32x16>(lo, hi);
}

/// start + per lane the dot of 4*N weights (word n = bytes 4n..4n+3 of each lane, unsigned,
/// <= Max <= 127) with the activations a[0..4N).
template <int Max, int N> VT_INLINE i32x16 dot(i32x16 start, const u8x64 *w, const int8_t *a) {
  for (int n = 0; n < N; ++n)
    start = dot4(start, w[n], splat(load<int32_t>(a + 4 * n)));
  return start;
}

/// The same for signed weights; the caller has subtracted signedOffset * sum(a) from start.
inline constexpr int signedOffset = 0;
template <int N> VT_INLINE i32x16 dotSigned(i32x16 start, const u8x64 *w, const int8_t *a) {
  const __m256i one = _mm256_set1_epi16(1);
  for (int n = 0; n < N; ++n) { // |w| * (a with w's sign)
    __m256i x = _mm256_set1_epi32(load<int32_t>(a + 4 * n));
    __m256i w0 = half<0>(w[n]), w1 = half<1>(w[n]);
    __m256i p0 = _mm256_maddubs_epi16(_mm256_abs_epi8(w0), _mm256_sign_epi8(x, w0));
    __m256i p1 = _mm256_maddubs_epi16(_mm256_abs_epi8(w1), _mm256_sign_epi8(x, w1));
    start += join<i32x16>(_mm256_madd_epi16(p0, one), _mm256_madd_epi16(p1, one));
  }
  return start;
}

/// Per byte, table[index]; index < 16.
VT_INLINE u8x64 lookup16(const int8_t *table, u8x64 index) {
  __m256i t = _mm256_broadcastsi128_si256(load<__m128i>(table));
  return join<u8x64>(_mm256_shuffle_epi8(t, half<0>(index)),
                     _mm256_shuffle_epi8(t, half<1>(index)));
}

} // namespace vetro
