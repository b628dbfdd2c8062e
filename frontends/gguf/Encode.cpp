// Encoders of single values and of blocks of 32. Rounding follows gguf-py operation by operation,
// each in float, so that the bytes are the same.
#include "frontends/gguf/Encode.h"
#include "frontends/gguf/EncodeBlocks.h"
#include "runtime/abi/Dequantize.h"

#include <cmath>

namespace vetro::gguf {

static void encodeF32(const float *x, uint8_t *b) { std::memcpy(b, x, sizeof(*x)); }
static void encodeF16(const float *x, uint8_t *b) { storeF16(b, *x); }
static void encodeBF16(const float *x, uint8_t *b) { storeU16(b, floatToBf16(*x)); }

/// Truncates to a code in [0, high]; the caller has added the half that makes this rounding.
static unsigned code(float v, float high) {
  return static_cast<unsigned>(v > 0 ? std::min(v, high) : 0);
}

/// Nibble j of the low halves is code j, of the high halves code 16 + j.
static void storeNibbles(const unsigned *codes, uint8_t *qs) {
  for (int j = 0; j < 16; ++j)
    qs[j] = static_cast<uint8_t>((codes[j] & 15) | (codes[16 + j] & 15) << 4);
}

static void storeFifthBits(const unsigned *codes, uint8_t *qh) {
  uint32_t bits = 0;
  for (int i = 0; i < 32; ++i)
    bits |= (codes[i] >> 4) << i;
  std::memcpy(qh, &bits, sizeof(bits));
}

static void encodeQ8_0(const float *x, uint8_t *b) {
  float d = std::abs(extreme(x, 32)) / 127, inv = inverse(d);
  storeF16(b, d);
  for (int i = 0; i < 32; ++i)
    b[2 + i] = static_cast<uint8_t>(nearest(x[i] * inv, -128, 127));
}

/// Codes around `half`, whose step maps the largest magnitude to code 0; returns the step.
static float symmetricCodes(const float *x, int half, unsigned *codes) {
  float d = extreme(x, 32) / static_cast<float>(-half), inv = inverse(d);
  for (int i = 0; i < 32; ++i)
    codes[i] =
        code(x[i] * inv + (static_cast<float>(half) + 0.5f), static_cast<float>(2 * half - 1));
  return d;
}

static void encodeQ4_0(const float *x, uint8_t *b) {
  unsigned codes[32];
  storeF16(b, symmetricCodes(x, 8, codes));
  storeNibbles(codes, b + 2);
}

static void encodeQ5_0(const float *x, uint8_t *b) {
  unsigned codes[32];
  storeF16(b, symmetricCodes(x, 16, codes));
  storeFifthBits(codes, b + 2);
  storeNibbles(codes, b + 6);
}

/// Codes from the minimum to the maximum; stores step and minimum in `b`.
static void rangeCodes(const float *x, int high, uint8_t *b, unsigned *codes) {
  auto [low, top] = std::minmax_element(x, x + 32);
  float min = *low, d = (*top - min) / static_cast<float>(high), inv = inverse(d);
  for (int i = 0; i < 32; ++i)
    codes[i] = code((x[i] - min) * inv + 0.5f, static_cast<float>(high));
  storeF16(b, d);
  storeF16(b + 2, min);
}

static void encodeQ4_1(const float *x, uint8_t *b) {
  unsigned codes[32];
  rangeCodes(x, 15, b, codes);
  storeNibbles(codes, b + 4);
}

static void encodeQ5_1(const float *x, uint8_t *b) {
  unsigned codes[32];
  rangeCodes(x, 31, b, codes);
  storeFifthBits(codes, b + 4);
  storeNibbles(codes, b + 8);
}

/// Index of the table's value nearest to v.
static unsigned nearestInTable(float v) {
  unsigned best = 0;
  for (unsigned i = 1; i < 16; ++i)
    if (v * 2 > static_cast<float>(iq4nlValues[i - 1] + iq4nlValues[i]))
      best = i;
  return best;
}

/// Chooses codes for a step that maps the extreme to the table's first value, then the step that
/// fits these codes best by least squares, then the codes again.
static void encodeIQ4_NL(const float *x, uint8_t *b) {
  unsigned codes[32];
  float d = extreme(x, 32) / static_cast<float>(iq4nlValues[0]);
  for (int round = 0; round < 2; ++round) {
    float inv = inverse(d), xv = 0, vv = 0;
    for (int i = 0; i < 32; ++i) {
      codes[i] = nearestInTable(x[i] * inv);
      float v = iq4nlValues[codes[i]];
      xv += x[i] * v;
      vv += v * v;
    }
    d = d == 0 ? 0 : xv / vv;
  }
  storeF16(b, d);
  storeNibbles(codes, b + 2);
}

/// The one place that connects formats with their encoders; null for those that are no weights.
static constexpr EncodeBlock *encodeTable[numFormats] = {
    encodeF32,  encodeF16,  encodeQ4_0, encodeQ4_1, encodeQ5_0, encodeQ5_1,   encodeQ8_0,
    encodeQ2_K, encodeQ3_K, encodeQ4_K, encodeQ5_K, encodeQ6_K, encodeIQ4_NL, nullptr,
    nullptr,    nullptr,    nullptr,    nullptr,    encodeBF16};
static_assert(Format::F32 == Format(0) && Format::Q8_0 == Format(6) &&
                  Format::IQ4_NL == Format(12) && Format::BF16 == Format(18) && numFormats == 19,
              "encodeTable follows Format.def");

bool canEncode(Format format) { return encodeTable[static_cast<unsigned>(format)] != nullptr; }

void encodeRow(Format format, const float *values, uint64_t n, uint8_t *blocks) {
  const FormatInfo &info = formatInfo(format);
  EncodeBlock *encode = encodeTable[static_cast<unsigned>(format)];
  for (uint64_t i = 0; i < n; i += info.blockLen, blocks += info.blockBytes)
    encode(values + i, blocks);
}

} // namespace vetro::gguf
