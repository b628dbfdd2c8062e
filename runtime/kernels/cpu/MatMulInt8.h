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
//
// One to four tokens: a tile's blocks are unpacked into registers and used at once, at the speed of
// memory. More: 1024 values of K are unpacked into a panel in the cache, which serves 64 tokens.
#pragma once
#include "runtime/kernels/cpu/MatMulTiles.h"

namespace vetro {
namespace {

/// Blocks of 32 values that are prepared together, and tokens that a panel serves.
inline constexpr int chunkBlocks = 32, panelTokens = 64;

/// What the arithmetic needs to know about a format.
struct Arithmetic {
  int scaleLen;           ///< values per weight scale: 16 or 32
  bool isSigned = false;  ///< weights are signed bytes, else unsigned and below 128
  bool hasMin = false;    ///< there is a minimum term
  bool hasOffset = false; ///< sums do not start at zero; set by Int8Kernel
  constexpr int perBlock() const { return 32 / scaleLen; }
  constexpr int perChunk() const { return chunkBlocks * perBlock(); }
};

/// What a chunk of T tokens contributes apart from the dots; [part] is which scale block of the 32
/// values: 0, or 0 and 1.
template <Arithmetic A, int T> struct ActivationTerms {
  float scale[T][chunkBlocks];                 ///< da
  int32_t start[A.perBlock()][T][chunkBlocks]; ///< -offset * sum
  float sum[A.perBlock()][T][chunkBlocks];     ///< da * float(sum)
};

/// Sums of one scale block of 32 values from the record's two sums per 16, packed in a word (or a
/// vector of such words).
template <Arithmetic A, class Words> VT_INLINE Words sumOf(Words two, int part) {
  Words first = two << 16 >> 16, second = two >> 16;
  return A.perBlock() == 1 ? first + second : part == 0 ? first : second;
}

/// The terms of one token's blocks [i, i + n) of a chunk: sixteen at once or one, by the type of
/// vector. Reads exactly these blocks' words of the record.
template <Arithmetic A, class Words, class Floats, int T>
VT_INLINE void convertTerms(const char *sums, const char *da, int i, int offset, int t,
                            ActivationTerms<A, T> *terms) {
  Floats scale = load<Floats>(da + 4 * i);
  store(terms->scale[t] + i, scale);
  for (int part = 0; part < A.perBlock(); ++part) {
    Words sum = sumOf<A>(load<Words>(sums + 4 * i), part);
    if (A.hasOffset)
      store(terms->start[part][t] + i, (Words)(sum * -offset));
    if (A.hasMin)
      store(terms->sum[part][t] + i, (Floats)(scale * toFloat(sum)));
  }
}

/// Terms of `blocks` blocks from number `first` on. Out of line: it is rarely run.
template <Arithmetic A, int T>
VT_OUTLINE void loadTerms(uint64_t k, uint64_t first, int blocks, int offset, const char *const *x,
                          ActivationTerms<A, T> *terms) {
  for (int t = 0; t < T; ++t) {
    const char *sums = x[t] + a8SumsOffset(k) + 4 * first;
    const char *da = x[t] + a8ScalesOffset(k) + 4 * first;
    int i = 0;
    for (; i + 16 <= blocks; i += 16)
      convertTerms<A, i32x16, f32x16>(sums, da, i, offset, t, terms);
    for (; i < blocks; ++i)
      convertTerms<A, int32_t, float>(sums, da, i, offset, t, terms);
  }
}

/// Adds block `i` of the chunk, unpacked in w, to the main sums of T tokens; a[t] is their record's
/// integers at the chunk's begin.
template <Arithmetic A, int T>
VT_INLINE void addDots(const u8x64 *w, const f32x16 *scale, int i, const int8_t *const *a,
                       const ActivationTerms<A, T> &terms, f32x16 *acc) {
  constexpr int words = A.scaleLen / 4;
  for (int s = 0; s < A.perBlock(); ++s) {
    // Word by word for all tokens: as many independent sums as there are tokens.
    i32x16 dots[T];
    VT_UNROLL
    for (int t = 0; t < T; ++t)
      dots[t] = A.hasOffset ? splat(terms.start[s][t][i]) : i32x16{};
    VT_UNROLL
    for (int v = 0; v < words; ++v) {
      VT_UNROLL
      for (int t = 0; t < T; ++t)
        dots[t] = dotWord<A.isSigned>(dots[t], w[s * words + v],
                                      load<int32_t>(a[t] + 32 * i + s * A.scaleLen + 4 * v));
    }
    VT_UNROLL
    for (int t = 0; t < T; ++t)
      acc[t] = fma(toFloat(dots[t]), scale[s] * splat(terms.scale[t][i]), acc[t]);
  }
}

/// Adds the minimum terms of blocks [first, first + n) of the chunk; min[0] is the first one's.
template <Arithmetic A, int T>
VT_INLINE void addMins(const f32x16 *min, int first, int n, const ActivationTerms<A, T> &terms,
                       f32x16 *acc) {
  for (int i = 0; i < n; ++i)
    for (int s = 0; s < A.perBlock(); ++s) {
      VT_UNROLL
      for (int t = 0; t < T; ++t)
        acc[t] = fma(min[i * A.perBlock() + s], splat(terms.sum[s][t][first + i]), acc[t]);
    }
}

/// 16 rows of a chunk as 8-bit integers, whatever the format.
template <Arithmetic A> struct Panel {
  u8x64 w[chunkBlocks][8];
  f32x16 scale[A.perChunk()], min[A.perChunk()];
};

/// Adds a panel times T tokens to acc and accMin, or sets them where the chunk is the first one.
/// Out of line: one copy serves all formats of this arithmetic.
template <Arithmetic A, int T>
VT_OUTLINE void panelTimesTokens(const Panel<A> *panel, int blocks, bool first,
                                 const int8_t *const *a, const ActivationTerms<A, T> *terms,
                                 f32x16 *acc, f32x16 *accMin) {
  f32x16 sum[T];
  VT_UNROLL
  for (int t = 0; t < T; ++t)
    sum[t] = first ? f32x16{} : acc[t];
  for (int i = 0; i < blocks; ++i)
    addDots<A, T>(panel->w[i], panel->scale + i * A.perBlock(), i, a, *terms, sum);
  VT_UNROLL
  for (int t = 0; t < T; ++t)
    acc[t] = sum[t];
  if (!A.hasMin)
    return;
  VT_UNROLL
  for (int t = 0; t < T; ++t)
    sum[t] = first ? f32x16{} : accMin[t];
  addMins<A, T>(panel->min, 0, blocks, *terms, sum);
  VT_UNROLL
  for (int t = 0; t < T; ++t)
    accMin[t] = sum[t];
}

/// `Q` describes a format:
///   format, blocks (of 32 values in the format's block), arithmetic, offset
///   scales(plane 0 of a block, scale, min): one of each per scale block
///   weights(plane 1 of a block, b, w): the 8 words of 32 values number b
template <class Q> struct Int8Kernel {
  static constexpr Format format = Q::format;
  static constexpr int offset = Q::arithmetic.isSigned ? signedOffset : Q::offset;
  static constexpr Arithmetic A{Q::arithmetic.scaleLen, Q::arithmetic.isSigned,
                                Q::arithmetic.hasMin, offset != 0};
  static constexpr int few = 4, most = panelTokens;
  static constexpr uint64_t scaleBytes = tileBlockBytes(format, 0);
  static constexpr uint64_t quantBytes = tileBlockBytes(format, 1);

  /// T tokens, unpacked in registers.
  template <int T>
  VT_INLINE void tile(const uint8_t *tile, uint64_t k, const char *const *x, f32x16 *out) {
    f32x16 acc[T] = {}, accMin[T] = {};
    const uint8_t *scales = tile, *quants = tile + tilePlaneOffset(format, k, 1);
    const uint8_t *ahead = tile + prefetchBytes;
    ActivationTerms<A, T> terms;
    for (uint64_t chunk = 0; chunk < k / 32; chunk += chunkBlocks) {
      int blocks = chunkLength(k, chunk);
      loadTerms<A, T>(k, chunk, blocks, offset, x, &terms);
      const int8_t *a[T];
      VT_UNROLL
      for (int t = 0; t < T; ++t)
        a[t] = (const int8_t *)x[t] + 32 * chunk;
      for (int b = 0; b < blocks; b += Q::blocks) {
        f32x16 scale[Q::blocks * A.perBlock()], min[Q::blocks * A.perBlock()];
        Q::scales(scales, scale, min);
        VT_UNROLL // shifts become constants
            for (int i = 0; i < Q::blocks; ++i) {
          u8x64 w[8];
          Q::weights(quants, i, w);
          addDots<A, T>(w, scale + i * A.perBlock(), b + i, a, terms, acc);
          ahead = prefetch<(scaleBytes + quantBytes) / Q::blocks>(ahead);
        }
        if (A.hasMin)
          addMins<A, T>(min, b, Q::blocks, terms, accMin);
        scales += scaleBytes;
        quants += quantBytes;
      }
    }
    VT_UNROLL
    for (int t = 0; t < T; ++t)
      out[t] = A.hasMin ? acc[t] + accMin[t] : acc[t];
  }

  VT_INLINE int chunkLength(uint64_t k, uint64_t chunk) {
    return k / 32 - chunk < chunkBlocks ? (int)(k / 32 - chunk) : chunkBlocks;
  }

  /// n <= `most` tokens through panels; x and out have room for a multiple of matmulTokens.
  VT_INLINE void panelTile(const uint8_t *tile, uint64_t k, uint32_t n, const char *const *x,
                           f32x16 *out) {
    constexpr int T = matmulTokens;
    f32x16 accMin[panelTokens];
    Panel<A> panel;
    ActivationTerms<A, T> terms;
    for (uint64_t chunk = 0; chunk < k / 32; chunk += chunkBlocks) {
      int blocks = chunkLength(k, chunk);
      unpack(tile, k, chunk, blocks, &panel);
      for (uint32_t t = 0; t < n; t += T) {
        loadTerms<A, T>(k, chunk, blocks, offset, x + t, &terms);
        const int8_t *a[T];
        for (int j = 0; j < T; ++j)
          a[j] = (const int8_t *)x[t + j] + 32 * chunk;
        panelTimesTokens<A, T>(&panel, blocks, chunk == 0, a, &terms, out + t, accMin + t);
      }
    }
    for (uint32_t t = 0; t < n && A.hasMin; ++t)
      out[t] += accMin[t];
  }

  VT_INLINE void unpack(const uint8_t *tile, uint64_t k, uint64_t chunk, int blocks,
                        Panel<A> *panel) {
    const uint8_t *scales = tile + chunk / Q::blocks * scaleBytes;
    const uint8_t *quants = tile + tilePlaneOffset(format, k, 1) + chunk / Q::blocks * quantBytes;
    for (int b = 0; b < blocks; b += Q::blocks) {
      Q::scales(scales, panel->scale + b * A.perBlock(), panel->min + b * A.perBlock());
      VT_UNROLL
      for (int i = 0; i < Q::blocks; ++i)
        Q::weights(quants, i, panel->w[b + i]);
      scales += scaleBytes;
      quants += quantBytes;
    }
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
