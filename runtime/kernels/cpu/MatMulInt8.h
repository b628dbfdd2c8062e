// Matmul of quantised weights with a8 records (Kernel.h): the arithmetic that all formats share.
//
// Order of sums of an output element, the same at every level and for any number of tokens. A
// scale block is 32 values (16 in Q2_K, Q3_K, Q6_K); in their order, with weight scale dw (the
// format's d, or d * sc, exact in F32), minimum mw, activation scale da:
//   idot = sum of (weight integer) * (activation integer), exact
//   acc  = fma(float(idot), dw * da, acc)
//   accm = fma(mw, da * float(sum of activation integers), accm)     where the format has minima
// and y = acc + accm at the end.
//
// Weights are kept unsigned: a format's offset (q - 8, q - 16, ...) becomes the start of the
// integer sum, -offset * sum(activation integers). The record has these sums.
#pragma once
#include "runtime/kernels/cpu/MatMulTiles.h"

namespace vetro {
namespace {

/// What a chunk of 16 x 32 values of T tokens contributes apart from the dots, per scale block.
template <class Q, int T> struct ActivationSums {
  static constexpr int perBlock = 32 / Q::scaleLen; ///< scale blocks per 32 values
  static constexpr int size = 16 * perBlock;
  static constexpr int offset = Q::isSigned ? signedOffset : Q::offset;
  int32_t start[T][size]; ///< -offset * sum
  float sum[T][size];     ///< da * float(sum)

  VT_MEMBER void fill(int t, int n, const int16_t *sums, const float *scales) {
    for (int i = 0; i < n; ++i) {
      int32_t s = perBlock == 2 ? sums[i] : sums[2 * i] + sums[2 * i + 1];
      if (offset)
        start[t][i] = -offset * s;
      if (Q::hasMin)
        sum[t][i] = scales[i / perBlock] * (float)s;
    }
  }

  /// For the blocks of 32 from `block` on, `blocks` <= 16 of them.
  VT_MEMBER void load(uint64_t k, uint64_t block, uint64_t blocks, const char *const *x) {
    if (!offset && !Q::hasMin)
      return;
    for (int t = 0; t < T; ++t) {
      const int16_t *sums = (const int16_t *)(x[t] + a8SumsOffset(k)) + 2 * block;
      const float *scales = (const float *)(x[t] + a8ScalesOffset(k)) + block;
      if (blocks == 16) // a constant length, for the compiler's vectors
        fill(t, size, sums, scales);
      else
        fill(t, (int)blocks * perBlock, sums, scales);
    }
  }
};

/// `Q` describes a format:
///   format, blocks (of 32 values in the format's block), scaleLen (32 or 16)
///   max, offset, isSigned, hasMin
///   scales(plane 0 of a block, scale, min): blocks * 32 / scaleLen of each
///   weights(plane 1 of a block, b, w): the 8 words of 32 values number b
template <class Q> struct Int8Kernel {
  static constexpr Format format = Q::format;
  static constexpr int tokens = matmulTokens;
  static constexpr int perBlock = 32 / Q::scaleLen;

  template <int T>
  VT_INLINE void tile(const uint8_t *tile, uint64_t k, const char *const *x, f32x16 *out) {
    f32x16 acc[T] = {}, accMin[T] = {};
    const uint8_t *scales = tile, *quants = tile + tilePlaneOffset(format, k, 1);
    ActivationSums<Q, T> sums;
    for (uint64_t chunk = 0; chunk < k / 32; chunk += 16) {
      uint64_t blocks = k / 32 - chunk < 16 ? k / 32 - chunk : 16;
      sums.load(k, chunk, blocks, x);
      for (uint64_t b = 0; b < blocks; b += Q::blocks) {
        f32x16 scale[Q::blocks * perBlock], min[Q::blocks * perBlock];
        Q::scales(scales, scale, min);
        for (int i = 0; i < Q::blocks; ++i) {
          u8x64 w[8];
          Q::weights(quants, i, w);
          block<T>(w, scale + i * perBlock, min + i * perBlock, k, chunk, (int)b + i, x, sums, acc,
                   accMin);
        }
        scales += tileBlockBytes(format, 0);
        quants += tileBlockBytes(format, 1);
      }
    }
    for (int t = 0; t < T; ++t)
      out[t] = Q::hasMin ? acc[t] + accMin[t] : acc[t];
  }

  /// Adds 32 values, number chunk + i, of T tokens.
  template <int T>
  VT_INLINE void block(const u8x64 *w, const f32x16 *scale, const f32x16 *min, uint64_t k,
                       uint64_t chunk, int i, const char *const *x,
                       const ActivationSums<Q, T> &sums, f32x16 *acc, f32x16 *accMin) {
    uint64_t number = chunk + i;
    for (int t = 0; t < T; ++t) {
      const int8_t *a = (const int8_t *)x[t] + 32 * number;
      float da = vetro::load<float>(x[t] + a8ScalesOffset(k) + 4 * number);
      for (int s = 0; s < perBlock; ++s) {
        i32x16 start = sums.offset ? splat(sums.start[t][i * perBlock + s]) : i32x16{};
        i32x16 idot = dotOf(start, w + s * 8 / perBlock, a + s * Q::scaleLen);
        acc[t] = fma(toFloat(idot), scale[s] * splat(da), acc[t]);
        if (Q::hasMin)
          accMin[t] = fma(min[s], splat(sums.sum[t][i * perBlock + s]), accMin[t]);
      }
    }
  }

  VT_INLINE i32x16 dotOf(i32x16 start, const u8x64 *w, const int8_t *a) {
    if constexpr (Q::isSigned)
      return dotSigned<Q::scaleLen / 4>(start, w, a);
    else
      return dot<Q::max, Q::scaleLen / 4>(start, w, a);
  }
};

/// Bits [shift, shift + n) of every byte, for the mask of n bits.
VT_INLINE u8x64 bits(u8x64 v, int shift, uint8_t mask) {
  return (u8x64)((u16x32)v >> (uint16_t)shift) & mask;
}

/// Word `i` of 16 rows.
VT_INLINE u8x64 word(const uint8_t *p, int i) { return load<u8x64>(p + 64 * i); }

} // namespace
} // namespace vetro
