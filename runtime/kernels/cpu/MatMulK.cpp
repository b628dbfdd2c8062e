// Matmul of the formats with super-blocks of 256: Q2_K, Q3_K, Q4_K, Q5_K, Q6_K.
// Each struct says how a block of 16 rows (Layout.h) becomes scales and 8-bit integers. The packed
// scale bytes of 16 rows are vectors of 32-bit words, so one shift unpacks a scale of all rows.
#include "runtime/kernels/cpu/MatMulInt8.h"

namespace vetro {
namespace {

struct BlockOf256 {
  static constexpr int blocks = 8, offset = 0;
};

/// Byte i % 4 of word i / 4, of the bytes stored as words of 16 rows.
VT_INLINE i32x16 byteOf(const uint8_t *p, int i) {
  return load<i32x16>(p + 64 * (i / 4)) >> 8 * (i % 4) & 255;
}

/// Q4_K and Q5_K: d, dmin, then eight 6-bit scales and minima as scaleMinK4() unpacks them.
VT_INLINE void scalesAndMins(const uint8_t *p, f32x16 *scale, f32x16 *min) {
  f32x16 d = fromF16(load<u16x16>(p)), dmin = fromF16(load<u16x16>(p + 32));
  const uint8_t *s = p + 64;
  for (int j = 0; j < 4; ++j) {
    i32x16 low = byteOf(s, j), high = byteOf(s, j + 4), both = byteOf(s, j + 8);
    scale[j] = d * toFloat(low & 63);
    min[j] = -(dmin * toFloat(high & 63));
    scale[j + 4] = d * toFloat((both & 15) | (low >> 6) << 4);
    min[j + 4] = -(dmin * toFloat(both >> 4 | (high >> 6) << 4));
  }
}

struct Q2_K : BlockOf256 {
  static constexpr Format format = Format::Q2_K;
  static constexpr Arithmetic arithmetic{.scaleLen = 16, .hasMin = true};

  VT_INLINE void scales(const uint8_t *p, f32x16 *scale, f32x16 *min) {
    f32x16 d = fromF16(load<u16x16>(p)), dmin = fromF16(load<u16x16>(p + 32));
    for (int j = 0; j < 16; ++j) {
      i32x16 both = byteOf(p + 64, j);
      scale[j] = d * toFloat(both & 15);
      min[j] = -(dmin * toFloat(both >> 4));
    }
  }
  VT_INLINE void weights(const uint8_t *p, int b, u8x64 *w) {
    for (int i = 0; i < 8; ++i)
      w[i] = bits(word(p, b / 4 * 8 + i), 2 * (b % 4), 3);
  }
};

struct Q3_K : BlockOf256 { // 2-bit quants, and a mask whose clear bits subtract 4
  static constexpr Format format = Format::Q3_K;
  static constexpr Arithmetic arithmetic{.scaleLen = 16};
  static constexpr int offset = 4;

  VT_INLINE void scales(const uint8_t *p, f32x16 *scale, f32x16 *) {
    f32x16 d = fromF16(load<u16x16>(p + 12 * tileRows));
    for (int j = 0; j < 16; ++j) { // as scaleQ3K()
      i32x16 low = j < 8 ? byteOf(p, j) & 15 : byteOf(p, j - 8) >> 4;
      i32x16 high = byteOf(p, 8 + j % 4) >> 2 * (j / 4) & 3;
      scale[j] = d * toFloat((low | high << 4) - 32);
    }
  }
  VT_INLINE void weights(const uint8_t *p, int b, u8x64 *w) {
    for (int i = 0; i < 8; ++i)
      w[i] = bits(word(p, 8 + b / 4 * 8 + i), 2 * (b % 4), 3) | bits(word(p, i), b, 1) << 2;
  }
};

/// Q4_K and Q5_K: eight scales and minima.
struct BlockWithMinima : BlockOf256 {
  static constexpr Arithmetic arithmetic{.scaleLen = 32, .hasMin = true};

  VT_INLINE void scales(const uint8_t *p, f32x16 *scale, f32x16 *min) {
    scalesAndMins(p, scale, min);
  }
};

struct Q4_K : BlockWithMinima {
  static constexpr Format format = Format::Q4_K;
  VT_INLINE void weights(const uint8_t *p, int b, u8x64 *w) {
    for (int i = 0; i < 8; ++i)
      w[i] = bits(word(p, b / 2 * 8 + i), 4 * (b % 2), 15);
  }
};

struct Q5_K : BlockWithMinima {
  static constexpr Format format = Format::Q5_K;
  VT_INLINE void weights(const uint8_t *p, int b, u8x64 *w) {
    for (int i = 0; i < 8; ++i)
      w[i] = bits(word(p, 8 + b / 2 * 8 + i), 4 * (b % 2), 15) | bits(word(p, i), b, 1) << 4;
  }
};

struct Q6_K : BlockOf256 { // nibbles and two upper bits
  static constexpr Format format = Format::Q6_K;
  static constexpr Arithmetic arithmetic{.scaleLen = 16};
  static constexpr int offset = 32;

  VT_INLINE void scales(const uint8_t *p, f32x16 *scale, f32x16 *) {
    f32x16 d = fromF16(load<u16x16>(p + 16 * tileRows));
    for (int j = 0; j < 16; ++j)
      scale[j] = d * toFloat(byteOf(p, j) << 24 >> 24);
  }
  VT_INLINE void weights(const uint8_t *p, int b, u8x64 *w) {
    int half = b / 4, quarter = b % 4;
    for (int i = 0; i < 8; ++i) {
      u8x64 low = bits(word(p, half * 16 + quarter % 2 * 8 + i), 4 * (quarter / 2), 15);
      w[i] = low | bits(word(p, 32 + half * 8 + i), 2 * quarter, 3) << 4;
    }
  }
};

} // namespace
} // namespace vetro

VT_DEFINE_MATMUL(q2_K, Int8Kernel<vetro::Q2_K>)
VT_DEFINE_MATMUL(q3_K, Int8Kernel<vetro::Q3_K>)
VT_DEFINE_MATMUL(q4_K, Int8Kernel<vetro::Q4_K>)
VT_DEFINE_MATMUL(q5_K, Int8Kernel<vetro::Q5_K>)
VT_DEFINE_MATMUL(q6_K, Int8Kernel<vetro::Q6_K>)
