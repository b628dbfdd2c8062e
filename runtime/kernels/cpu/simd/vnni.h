// AVX-512 with VNNI: one instruction multiplies four byte pairs per lane and adds them.
#pragma once
#include "runtime/kernels/cpu/simd/avx512.h"

namespace vetro {

/// acc + per lane the dot of four weights with the four activations in the bytes of `a`, exact.
/// Signed weights are made unsigned by adding 128 (the sign bit flipped) in asSigned(); the caller
/// has subtracted signedOffset * sum of activations from the sum.
template <bool Signed> VT_INLINE i32x16 dotWord(i32x16 acc, u8x64 w, int32_t a) {
  return (i32x16)_mm512_dpbusd_epi32((__m512i)acc, (__m512i)w, (__m512i)splat(a));
}
inline constexpr int signedOffset = 128;
VT_INLINE u8x64 asSigned(u8x64 w) { return w ^ 128; }

/// Bits 4i..4i+3 of each lane, as bit 4 of the lane's bytes 0..3: byte j of a lane takes the eight
/// bits from 4i + j - 4 on (modulo 64, within two lanes).
VT_INLINE u8x64 fifthBits(u32x16 bits, int i) {
  const __m512i first = _mm512_set1_epi64(0x1f1e1d1c3f3e3d3c);
  __m512i from = _mm512_add_epi8(first, _mm512_set1_epi8((char)(4 * i)));
  return (u8x64)_mm512_multishift_epi64_epi8(from, (__m512i)bits) & 16;
}

} // namespace vetro
