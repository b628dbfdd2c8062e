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

} // namespace vetro
