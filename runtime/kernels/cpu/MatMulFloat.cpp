// Matmul of unquantised weights with F32 activations.
//
// Order of sums: four partial sums, of the products with k % 4 = 0, 1, 2, 3, each in k's order by
// fused multiply-add; then (s0 + s1) + (s2 + s3). Four, because one chain of dependent FMAs is
// slower than memory when a single token is computed.
#include "runtime/abi/Kernel.h"
#include "runtime/kernels/cpu/simd/Simd.h"

namespace vetro {
namespace {

struct F32Tile {
  static uint64_t bytes(uint64_t k) { return k * tileRows * sizeof(float); }
  VT_INLINE f32x16 at(const uint8_t *tile, uint64_t k) {
    return load<f32x16>(tile + k * tileRows * sizeof(float));
  }
};

/// T tokens (the last ones repeated where fewer are left) times one tile.
template <class Tile, int T>
VT_INLINE void floatTile(const uint8_t *tile, uint64_t k, const float *const *x, f32x16 *out) {
  f32x16 sum[T][4] = {};
  uint64_t i = 0;
  for (; i + 4 <= k; i += 4)
    for (int j = 0; j < 4; ++j) {
      f32x16 w = Tile::at(tile, i + j);
      for (int t = 0; t < T; ++t)
        sum[t][j] = fma(w, splat(x[t][i + j]), sum[t][j]);
    }
  for (int j = 0; j < 3; ++j)
    if (i + j < k)
      for (int t = 0; t < T; ++t)
        sum[t][j] = fma(Tile::at(tile, i + j), splat(x[t][i + j]), sum[t][j]);
  for (int t = 0; t < T; ++t)
    out[t] = (sum[t][0] + sum[t][1]) + (sum[t][2] + sum[t][3]);
}

template <class Tile, int T>
VT_INLINE void floatTokens(const uint8_t *tile, uint64_t k, uint32_t lanes, const char *x,
                           uint64_t xStride, uint32_t n, float *y, uint64_t yStride) {
  const float *rows[T];
  for (int t = 0; t < T; ++t)
    rows[t] = (const float *)(x + xStride * ((uint32_t)t < n ? t : n - 1));
  f32x16 out[T];
  floatTile<Tile, T>(tile, k, rows, out);
  for (int t = 0; t < T; ++t)
    if ((uint32_t)t < n)
      storeLanes(y + t * yStride, out[t], lanes);
}

template <class Tile>
VT_INLINE void floatMatMul(const void *w, uint64_t k, uint32_t rowBegin, uint32_t rowEnd,
                           const void *x, uint64_t xStride, uint32_t nTokens, float *y,
                           uint64_t yStride) {
  constexpr int T = matmulTokens * 3 / 4;
  for (uint32_t row = rowBegin; row < rowEnd; row += tileRows) {
    const uint8_t *tile = (const uint8_t *)w + row / tileRows * Tile::bytes(k);
    for (uint32_t t = 0; t < nTokens;) {
      const char *xt = (const char *)x + t * xStride;
      float *yt = y + (row - rowBegin) + t * yStride;
      if (nTokens - t == 1) {
        floatTokens<Tile, 1>(tile, k, rowEnd - row, xt, xStride, 1, yt, yStride);
        break;
      }
      floatTokens<Tile, T>(tile, k, rowEnd - row, xt, xStride, nTokens - t, yt, yStride);
      t += nTokens - t < T ? nTokens - t : T;
    }
  }
}

} // namespace
} // namespace vetro

using namespace vetro;

VT_EXPORT void VT_NAME(vt_matmul_f32)(const void *w, uint64_t k, uint32_t rowBegin, uint32_t rowEnd,
                                      const void *x, uint64_t xStride, uint32_t nTokens, float *y,
                                      uint64_t yStride) {
  floatMatMul<F32Tile>(w, k, rowBegin, rowEnd, x, xStride, nTokens, y, yStride);
}

VT_EXPORT void VT_NAME(vt_gather_f32)(const void *w, uint64_t k, uint64_t row, float *y) {
  const float *tile = (const float *)((const uint8_t *)w + row / tileRows * F32Tile::bytes(k));
  for (uint64_t i = 0; i < k; ++i)
    y[i] = tile[i * tileRows + row % tileRows];
}
