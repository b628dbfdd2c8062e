// Matmul of the formats with blocks of 32: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, IQ4_NL.
// Each struct says how a block of 16 rows (Layout.h) becomes scales and 8-bit integers.
#include "runtime/kernels/cpu/MatMulInt8.h"

namespace vetro {
namespace {

/// One f16 scale d per block.
struct BlockOf32 {
  static constexpr int blocks = 1, offset = 0;
  static constexpr Arithmetic arithmetic{.scaleLen = 32};

  VT_INLINE void scales(const uint8_t *p, f32x16 *scale, f32x16 *) {
    scale[0] = fromF16(load<u16x16>(p));
  }
};

/// d and m.
struct BlockWithMin : BlockOf32 {
  static constexpr Arithmetic arithmetic{.scaleLen = 32, .hasMin = true};

  VT_INLINE void scales(const uint8_t *p, f32x16 *scale, f32x16 *min) {
    scale[0] = fromF16(load<u16x16>(p));
    min[0] = fromF16(load<u16x16>(p + 32));
  }
};

/// 16 bytes of nibbles: elements 0..15 in the low, 16..31 in the high ones.
VT_INLINE void nibbles(const uint8_t *p, u8x64 *w) {
  for (int i = 0; i < 4; ++i) {
    u8x64 v = word(p, i);
    w[i] = bits(v, 0, 15);
    w[i + 4] = bits(v, 4, 15);
  }
}

/// Adds the fifth bits: bit e of a row's 32-bit word belongs to element e.
VT_INLINE void addFifthBits(const uint8_t *p, u8x64 *w) {
  for (int i = 0; i < 8; ++i)
    w[i] |= fifthBits(load<u32x16>(p), i);
}

struct Q4_0 : BlockOf32 {
  static constexpr Format format = Format::Q4_0;
  static constexpr int offset = 8;
  VT_INLINE void weights(const uint8_t *p, int, u8x64 *w) { nibbles(p, w); }
};

struct Q4_1 : BlockWithMin {
  static constexpr Format format = Format::Q4_1;
  VT_INLINE void weights(const uint8_t *p, int, u8x64 *w) { nibbles(p, w); }
};

struct Q5_0 : BlockOf32 {
  static constexpr Format format = Format::Q5_0;
  static constexpr int offset = 16;
  VT_INLINE void weights(const uint8_t *p, int, u8x64 *w) {
    nibbles(p + 64, w);
    addFifthBits(p, w);
  }
};

struct Q5_1 : BlockWithMin {
  static constexpr Format format = Format::Q5_1;
  VT_INLINE void weights(const uint8_t *p, int, u8x64 *w) {
    nibbles(p + 64, w);
    addFifthBits(p, w);
  }
};

struct Q8_0 : BlockOf32 {
  static constexpr Format format = Format::Q8_0;
  static constexpr Arithmetic arithmetic{.scaleLen = 32, .isSigned = true};
  VT_INLINE void weights(const uint8_t *p, int, u8x64 *w) {
    for (int i = 0; i < 8; ++i)
      w[i] = asSigned(word(p, i));
  }
};

struct IQ4_NL : BlockOf32 {
  static constexpr Format format = Format::IQ4_NL;
  static constexpr Arithmetic arithmetic{.scaleLen = 32, .isSigned = true};
  VT_INLINE void weights(const uint8_t *p, int, u8x64 *w) {
    nibbles(p, w);
    for (int i = 0; i < 8; ++i)
      w[i] = asSigned(lookup16(iq4nlValues, w[i]));
  }
};

} // namespace
} // namespace vetro

VT_DEFINE_MATMUL(q4_0, Int8Kernel<vetro::Q4_0>)
VT_DEFINE_MATMUL(q4_1, Int8Kernel<vetro::Q4_1>)
VT_DEFINE_MATMUL(q5_0, Int8Kernel<vetro::Q5_0>)
VT_DEFINE_MATMUL(q5_1, Int8Kernel<vetro::Q5_1>)
VT_DEFINE_MATMUL(q8_0, Int8Kernel<vetro::Q8_0>)
VT_DEFINE_MATMUL(iq4_nl, Int8Kernel<vetro::IQ4_NL>)
