// The two inner loops of attention: register tiles of R query rows that share each K or V vector.
// A row's sums are the same in every tile: tiles differ in what is computed beside it.
#pragma once
#include "runtime/abi/KvPage.h"
#include "runtime/kernels/cpu/KvElement.h"

namespace vetro {

/// Accumulators that fit the registers beside what is loaded: 24 of 32 of 64 bytes, or 6 of 16 of
/// 32 bytes (two for each of ours).
inline constexpr int tileBudget = matmulTokens == 8 ? 24 : 6;

/// The vectors, 1, 2 or 4, that a tile of `rows` rows holds for each.
constexpr int tileWidth(int rows) {
  return rows * 4 <= tileBudget ? 4 : rows * 2 <= tileBudget ? 2 : 1;
}

/// Calls f<R>(first row) for tiles of R rows that cover rows [row, n). Few sizes: each one is code
/// that a first start compiles.
template <int R = 12, class F> VT_INLINE void forRowTiles(uint32_t row, uint32_t n, F f) {
  if constexpr (R <= tileBudget)
    for (; n - row >= R; row += R)
      f.template operator()<R>(row);
  if constexpr (R > 1)
    forRowTiles<R == 12 ? 4 : R - 1>(row, n, f);
}

/// Scores of R rows with P groups of 16 positions: scale * sum over d of q[d] * k[d], in d's order.
///   k       the first group of a K page's head; groups lie headDim * 16 elements apart
///   q       [headDim][R]
///   scores  row r's at scores + r * pagePositions
template <class Kv, int R, int P>
VT_INLINE void scoreTile(const typename Kv::Type *k, uint32_t headDim, const float *q, float scale,
                         float *scores) {
  f32x16 sum[R][P] = {};
  for (uint64_t d = 0; d < headDim; ++d, q += R) {
    f32x16 keys[P];
#pragma unroll
    for (int p = 0; p < P; ++p)
      keys[p] = Kv::load16(k + (p * uint64_t(headDim) + d) * groupPositions);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      f32x16 x = splat(q[r]);
#pragma unroll
      for (int p = 0; p < P; ++p)
        sum[r][p] = fma(keys[p], x, sum[r][p]);
    }
  }
#pragma unroll
  for (int r = 0; r < R; ++r)
#pragma unroll
    for (int p = 0; p < P; ++p)
      store(scores + r * pagePositions + p * groupPositions, sum[r][p] * splat(scale));
}

/// Scores of the page's positions [begin, end), and of some more up to the tile's edges, which
/// nobody reads: a page is a whole number of tiles.
template <class Kv, int R>
VT_INLINE void scoreRows(const typename Kv::Type *k, uint32_t headDim, const float *q, float scale,
                         uint32_t begin, uint32_t end, float *scores) {
  constexpr int P = tileWidth(R), step = P * groupPositions;
  for (uint32_t i = begin / step * step; i < end; i += step)
    scoreTile<Kv, R, P>(k + uint64_t(i) * headDim, headDim, q, scale, scores + i);
}

/// Adds p * v of the page's positions [begin, end), in their order, to the sums of R rows, for
/// 16 * V dimensions, or for the first `lanes` < 16 where V = 1.
///   v     a V page's head, moved to the first dimension; positions lie headDim elements apart
///   p     row r's at p + r * pagePositions
///   sums  row r's at sums + r * stride
template <class Kv, int R, int V>
VT_INLINE void addPositions(const typename Kv::Type *v, uint32_t headDim, uint32_t lanes,
                            const float *p, uint32_t begin, uint32_t end, float *sums,
                            uint32_t stride) {
  f32x16 sum[R][V];
#pragma unroll
  for (int r = 0; r < R; ++r)
#pragma unroll
    for (int j = 0; j < V; ++j)
      sum[r][j] = load<f32x16>(sums + r * stride + 16 * j);
  const typename Kv::Type *row = v + uint64_t(begin) * headDim;
  for (uint64_t i = begin; i < end; ++i, row += headDim) {
    f32x16 values[V];
#pragma unroll
    for (int j = 0; j < V; ++j)
      values[j] = V > 1 || lanes == 16 ? Kv::load16(row + 16 * j) : loadFirst<Kv>(row, lanes);
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
      for (int j = 0; j < V; ++j)
        sum[r][j] = fma(values[j], splat(p[r * pagePositions + i]), sum[r][j]);
  }
#pragma unroll
  for (int r = 0; r < R; ++r)
#pragma unroll
    for (int j = 0; j < V; ++j)
      store(sums + r * stride + 16 * j, sum[r][j]);
}

} // namespace vetro
