// What the bytes of each weight format mean, one obvious function per format. Freestanding: the
// interpreter, the gather kernels and the tests share it. The values are bit for bit those of
// gguf-py (ggml-org/llama.cpp, gguf-py/gguf/quants.py): every operation rounds to float.
// In the token's cycle: embedding rows are read through it, and every matmul kernel is tested
// against it.
#pragma once
#include "runtime/abi/Float.h"
#include "runtime/abi/Format.h"

namespace vetro {

/// Writes the values of one block.
using DequantizeBlock = void(const uint8_t *block, float *out);

/// The 16 values that IQ4_NL's nibbles stand for.
alignas(16) inline constexpr int8_t iq4nlValues[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                       1,    13,   25,  38,  53,  69,  89,  113};

constexpr uint16_t loadU16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
constexpr uint32_t loadU32(const uint8_t *p) { return loadU16(p) | (uint32_t)loadU16(p + 2) << 16; }
constexpr float loadF16(const uint8_t *p) { return f16ToFloat(loadU16(p)); }

/// What an element of a block stands for: scale * code + offset. Each operation rounds to float.
struct BlockValue {
  float scale;
  int code;
  float offset = 0;
};

/// Element i of a block.
using ReadBlockValue = BlockValue(const uint8_t *block, int i);

// Formats of one value per block: the code is 1.

inline BlockValue valueF32(const uint8_t *b, int) {
  return {__builtin_bit_cast(float, loadU32(b)), 1};
}
inline BlockValue valueF16(const uint8_t *b, int) { return {loadF16(b), 1}; }
inline BlockValue valueBF16(const uint8_t *b, int) { return {bf16ToFloat(loadU16(b)), 1}; }

// Blocks of 32. Nibble j of the low halves is element j, of the high halves element 16 + j.

constexpr int nibble(const uint8_t *qs, int i) { return i < 16 ? qs[i] & 15 : qs[i - 16] >> 4; }

inline BlockValue valueQ8_0(const uint8_t *b, int i) { // f16 d, int8 q[32]
  return {loadF16(b), (int8_t)b[2 + i]};
}
inline BlockValue valueQ4_0(const uint8_t *b, int i) { // f16 d, nibbles
  return {loadF16(b), nibble(b + 2, i) - 8};
}
inline BlockValue valueQ4_1(const uint8_t *b, int i) { // f16 d, f16 m, nibbles
  return {loadF16(b), nibble(b + 4, i), loadF16(b + 2)};
}
inline BlockValue valueQ5_0(const uint8_t *b, int i) { // f16 d, 32 fifth bits, nibbles
  return {loadF16(b), (int)(nibble(b + 6, i) | (loadU32(b + 2) >> i & 1) << 4) - 16};
}
inline BlockValue valueQ5_1(const uint8_t *b, int i) { // f16 d, f16 m, fifth bits, nibbles
  return {loadF16(b), (int)(nibble(b + 8, i) | (loadU32(b + 4) >> i & 1) << 4), loadF16(b + 2)};
}
inline BlockValue valueIQ4_NL(const uint8_t *b, int i) { // f16 d, nibbles into a table
  return {loadF16(b), iq4nlValues[nibble(b + 2, i)]};
}

// Super-blocks of 256 with scales per 16 or 32 values.

/// Q4_K's and Q5_K's eight 6-bit scales and minima in 12 bytes: 0-3 lie in the low 6 bits of
/// bytes 0-3 (scales) and 4-7 (minima); 4-7 in the nibbles of bytes 8-11, their upper two bits on
/// top of bytes 0-7.
struct ScaleMin {
  int scale, min;
};
constexpr ScaleMin scaleMinK4(const uint8_t *s, int j) {
  if (j < 4)
    return {s[j] & 63, s[j + 4] & 63};
  return {(s[j + 4] & 15) | (s[j - 4] >> 6) << 4, (s[j + 4] >> 4) | (s[j] >> 6) << 4};
}

/// Q3_K's sixteen 6-bit scales in 12 bytes: low nibbles in bytes 0-7, upper bits in bytes 8-11.
constexpr int scaleQ3K(const uint8_t *s, int j) {
  int low = j < 8 ? s[j] & 15 : s[j - 8] >> 4;
  return (low | (s[8 + j % 4] >> 2 * (j / 4) & 3) << 4) - 32;
}

inline BlockValue valueQ2_K(const uint8_t *b, int i) { // scales[16], q[64], f16 d, f16 dmin
  return {loadF16(b + 80) * (float)(b[i / 16] & 15),
          b[16 + i / 128 * 32 + i % 32] >> 2 * (i % 128 / 32) & 3,
          -(loadF16(b + 82) * (float)(b[i / 16] >> 4))};
}
inline BlockValue valueQ3_K(const uint8_t *b, int i) { // high[32], q[64], scales[12], f16 d
  int low = b[32 + i / 128 * 32 + i % 32] >> 2 * (i % 128 / 32) & 3;
  return {loadF16(b + 108) * (float)scaleQ3K(b + 96, i / 16),
          low - (b[i % 32] >> i / 32 & 1 ? 0 : 4)};
}
inline BlockValue valueQ4_K(const uint8_t *b, int i) { // f16 d, f16 dmin, scales[12], q[128]
  ScaleMin s = scaleMinK4(b + 4, i / 32);
  return {loadF16(b) * (float)s.scale, b[16 + i / 64 * 32 + i % 32] >> 4 * (i / 32 % 2) & 15,
          -(loadF16(b + 2) * (float)s.min)};
}
inline BlockValue valueQ5_K(const uint8_t *b, int i) { // d, dmin, scales[12], high[32], q[128]
  ScaleMin s = scaleMinK4(b + 4, i / 32);
  int low = b[48 + i / 64 * 32 + i % 32] >> 4 * (i / 32 % 2) & 15;
  return {loadF16(b) * (float)s.scale, low | (b[16 + i % 32] >> i / 32 & 1) << 4,
          -(loadF16(b + 2) * (float)s.min)};
}
inline BlockValue valueQ6_K(const uint8_t *b, int i) { // low[128], high[64], int8 s[16], f16 d
  int half = i / 128, quarter = i % 128 / 32, l = i % 32;
  int low = b[half * 64 + quarter % 2 * 32 + l] >> 4 * (quarter / 2) & 15;
  return {loadF16(b + 208) * (float)(int8_t)b[192 + i / 16],
          (low | (b[128 + half * 32 + l] >> 2 * quarter & 3) << 4) - 32};
}

/// How a format's blocks are read; null for those that are no weights.
struct BlockReader {
  ReadBlockValue *value = nullptr;
  DequantizeBlock *dequantize = nullptr;
  bool hasOffset = false;
};

/// Whether an offset is added: without one a product of -0 stays -0.
template <ReadBlockValue *Value, int N, bool HasOffset> constexpr BlockReader blockReader() {
  auto dequantize = [](const uint8_t *b, float *out) {
    for (int i = 0; i < N; ++i) {
      BlockValue v = Value(b, i);
      float product = N == 1 ? v.scale : v.scale * (float)v.code;
      out[i] = HasOffset ? product + v.offset : product;
    }
  };
  return {Value, dequantize, HasOffset};
}

/// The one place that connects formats with their meaning.
inline constexpr BlockReader blockReaders[numFormats] = {blockReader<valueF32, 1, false>(),
                                                         blockReader<valueF16, 1, false>(),
                                                         blockReader<valueQ4_0, 32, false>(),
                                                         blockReader<valueQ4_1, 32, true>(),
                                                         blockReader<valueQ5_0, 32, false>(),
                                                         blockReader<valueQ5_1, 32, true>(),
                                                         blockReader<valueQ8_0, 32, false>(),
                                                         blockReader<valueQ2_K, 256, true>(),
                                                         blockReader<valueQ3_K, 256, false>(),
                                                         blockReader<valueQ4_K, 256, true>(),
                                                         blockReader<valueQ5_K, 256, true>(),
                                                         blockReader<valueQ6_K, 256, false>(),
                                                         blockReader<valueIQ4_NL, 32, false>(),
                                                         {},
                                                         {},
                                                         {},
                                                         {},
                                                         {},
                                                         blockReader<valueBF16, 1, false>()};
static_assert(Format::F32 == Format(0) && Format::Q8_0 == Format(6) &&
                  Format::IQ4_NL == Format(12) && Format::BF16 == Format(18) && numFormats == 19,
              "blockReaders follows Format.def");

/// Whether dequantizeRow() knows the format.
constexpr bool canDequantize(Format f) { return blockReaders[(unsigned)f].dequantize; }

/// Writes the `n` values of a row of blocks. `n` is a multiple of the block length, and
/// canDequantize(f) holds.
inline void dequantizeRow(Format f, const uint8_t *blocks, uint64_t n, float *out) {
  const FormatInfo &info = formatInfo(f);
  for (uint64_t i = 0; i < n; i += info.blockLen, blocks += info.blockBytes)
    blockReaders[(unsigned)f].dequantize(blocks, out + i);
}

/// Sets the codes of a block to 0 where the format adds a minimum to scale * code, so that the
/// block stands for its minima; sets the whole block to 0 in other formats, whose codes are signed.
inline void keepMinima(Format f, uint8_t *block) {
  const FormatInfo &info = formatInfo(f);
  for (uint32_t i = info.codesBegin; i < info.codesEnd; ++i)
    block[i] = 0;
}

} // namespace vetro
