// Matmul of F32, F16 and BF16 weights with F32 activations.
//
// Order of sums: four partial sums, of the products with k % 4 = 0, 1, 2, 3, each in k's order by
// fused multiply-add; then (s0 + s1) + (s2 + s3). Four, because one chain of dependent FMAs is
// slower than memory when a single token is computed.
#include "runtime/kernels/cpu/MatMulTiles.h"

namespace vetro {
namespace {

struct F32Words {
  static constexpr Format format = Format::F32;
  /// Weights k of the 16 rows.
  VT_INLINE f32x16 at(const uint8_t *tile, uint64_t k) { return load<f32x16>(tile + k * 64); }
};

struct F16Words {
  static constexpr Format format = Format::F16;
  VT_INLINE f32x16 at(const uint8_t *tile, uint64_t k) {
    return fromF16(load<u16x16>(tile + k * 32));
  }
};

struct BF16Words {
  static constexpr Format format = Format::BF16;
  VT_INLINE f32x16 at(const uint8_t *tile, uint64_t k) { // pairs: the even value is the lower half
    u32x16 pair = load<u32x16>(tile + k / 2 * 64);
    return (f32x16)(k % 2 ? pair & 0xffff0000u : pair << 16);
  }
};

template <class Words> struct FloatKernel {
  static constexpr Format format = Words::format;
  static constexpr int few = (floatTokens + 1) / 2, most = floatTokens;

  template <int T>
  VT_INLINE void tile(const uint8_t *tile, uint64_t k, const char *const *x, f32x16 *out) {
    f32x16 sum[T][4] = {};
    uint64_t i = 0;
    for (; i + 4 <= k; i += 4)
      step<T>(tile, i, 4, x, sum);
    step<T>(tile, i, k - i, x, sum);
    VT_UNROLL
    for (int t = 0; t < T; ++t)
      out[t] = (sum[t][0] + sum[t][1]) + (sum[t][2] + sum[t][3]);
  }

  VT_INLINE void panelTile(const uint8_t *t, uint64_t k, uint32_t, const char *const *x,
                           f32x16 *out) {
    tile<most>(t, k, x, out);
  }

  /// The n <= 4 products from k = i on; i is a multiple of 4.
  template <int T>
  VT_INLINE void step(const uint8_t *tile, uint64_t i, uint64_t n, const char *const *x,
                      f32x16 (*sum)[4]) {
    for (uint64_t j = 0; j < 4; ++j) {
      if (j >= n)
        return;
      f32x16 w = Words::at(tile, i + j);
      VT_UNROLL
      for (int t = 0; t < T; ++t)
        sum[t][j] = fma(w, splat(load<float>(x[t] + 4 * (i + j))), sum[t][j]);
    }
  }
};

} // namespace
} // namespace vetro

VT_DEFINE_MATMUL(f32, FloatKernel<vetro::F32Words>)
VT_DEFINE_MATMUL(f16, FloatKernel<vetro::F16Words>)
VT_DEFINE_MATMUL(bf16, FloatKernel<vetro::BF16Words>)
