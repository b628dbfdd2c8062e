// AVX-512 with VNNI: one instruction multiplies four byte pairs per lane and adds them.
#pragma once
#include "runtime/kernels/cpu/simd/avx512.h"

namespace vetro {

/// start + per lane the dot of 4*N weights (word n = bytes 4n..4n+3 of each lane, unsigned,
/// <= Max) with the activations a[0..4N).
template <int Max, int N> VT_INLINE i32x16 dot(i32x16 start, const u8x64 *w, const int8_t *a) {
  for (int n = 0; n < N; ++n)
    start = (i32x16)_mm512_dpbusd_epi32((__m512i)start, (__m512i)w[n],
                                        (__m512i)splat(load<int32_t>(a + 4 * n)));
  return start;
}

/// The same for signed weights w: w + 128 is unsigned (the sign bit flipped), so the caller has
/// subtracted signedOffset * sum(a) from start.
inline constexpr int signedOffset = 128;
template <int N> VT_INLINE i32x16 dotSigned(i32x16 start, const u8x64 *w, const int8_t *a) {
  for (int n = 0; n < N; ++n)
    start = (i32x16)_mm512_dpbusd_epi32((__m512i)start, (__m512i)(w[n] ^ 128),
                                        (__m512i)splat(load<int32_t>(a + 4 * n)));
  return start;
}

} // namespace vetro
