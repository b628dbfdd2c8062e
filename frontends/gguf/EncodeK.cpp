// Encoders of super-blocks: 256 values, whose groups of 16 or 32 have scales of a few bits. Each
// group gets a step (and minimum) by least squares, these are rounded to the super-block's own
// steps, and the codes are chosen last, for the rounded ones.
//
// Example, one group of Q4_K: values 0.1 ... 1.6 in steps of 0.1 have minimum 0.1 and step 0.1. The
// minimum may only be subtracted (dmin * m >= 0), so positive minima count as 0.
#include "frontends/gguf/EncodeBlocks.h"

namespace vetro::gguf {

namespace {

/// value = step * code - min
struct Affine {
  float step = 0, min = 0;
};

/// Step and minimum of a group for codes 0..high: first from the range, then twice by least
/// squares.
Affine fitAffine(const float *x, int n, int high) {
  auto [lowest, highest] = std::minmax_element(x, x + n);
  float low = std::min(*lowest, 0.0f);
  Affine a{(*highest - low) / static_cast<float>(high), -low};
  if (!(a.step > 0))
    return {0, -low};
  for (int round = 0; round < 2; ++round) {
    float inv = inverse(a.step), sq = 0, sqq = 0, sx = 0, sxq = 0;
    for (int i = 0; i < n; ++i) {
      auto q = static_cast<float>(nearest((x[i] + a.min) * inv, 0, high));
      sq += q, sqq += q * q, sx += x[i], sxq += x[i] * q;
    }
    auto count = static_cast<float>(n);
    float det = count * sqq - sq * sq, step = (count * sxq - sx * sq) / det;
    float min = -(sqq * sx - sq * sxq) / det;
    if (!(det > 0 && step > 0))
      break;
    a = min > 0 ? Affine{step, min} : Affine{sxq / sqq, 0};
  }
  return a;
}

/// Step of a group for codes low..-low-1: the extreme at `low`, then by least squares.
float fitStep(const float *x, int n, int low) {
  float step = extreme(x, n) / static_cast<float>(low), inv = inverse(step), sqq = 0, sxq = 0;
  for (int i = 0; i < n; ++i) {
    auto q = static_cast<float>(nearest(x[i] * inv, low, -low - 1));
    sqq += q * q, sxq += x[i] * q;
  }
  return sqq > 0 ? sxq / sqq : 0;
}

/// The super-block's steps of scales and minima, and all groups' codes of them.
struct AffineGroups {
  uint8_t scale[16], min[16];
};

/// Fits groups of `size` values, codes 0..high, scales and minima 0..scaleHigh; stores the
/// super-block's d at `d` and dmin at `dmin`; `codes` are the values' codes.
AffineGroups fitGroups(const float *x, int size, int high, int scaleHigh, uint8_t *d, uint8_t *dmin,
                       uint8_t *codes) {
  int groups = 256 / size;
  Affine fits[16];
  float maxStep = 0, maxMin = 0;
  for (int g = 0; g < groups; ++g) {
    fits[g] = fitAffine(x + g * size, size, high);
    maxStep = std::max(maxStep, fits[g].step);
    maxMin = std::max(maxMin, fits[g].min);
  }
  auto top = static_cast<float>(scaleHigh);
  storeF16(d, maxStep / top);
  storeF16(dmin, maxMin / top);
  float invStep = inverse(maxStep / top), invMin = inverse(maxMin / top);
  float unit = f16ToFloat(floatToF16(maxStep / top)),
        minUnit = f16ToFloat(floatToF16(maxMin / top));
  AffineGroups result;
  for (int g = 0; g < groups; ++g) {
    result.scale[g] = static_cast<uint8_t>(nearest(fits[g].step * invStep, 0, scaleHigh));
    result.min[g] = static_cast<uint8_t>(nearest(fits[g].min * invMin, 0, scaleHigh));
    float inv = inverse(unit * result.scale[g]), min = minUnit * result.min[g];
    for (int i = g * size; i < (g + 1) * size; ++i)
      codes[i] = static_cast<uint8_t>(nearest((x[i] + min) * inv, 0, high));
  }
  return result;
}

/// Fits groups of 16 values, codes low..-low-1, scales scaleLow..-scaleLow-1; stores the
/// super-block's d at `d`; `codes` are the values' codes minus `low`, so that they start at 0.
void fitSigned(const float *x, int low, int scaleLow, uint8_t *d, int *scales, uint8_t *codes) {
  float steps[16];
  for (int g = 0; g < 16; ++g)
    steps[g] = fitStep(x + g * 16, 16, low);
  float unit = extreme(steps, 16) / static_cast<float>(scaleLow);
  storeF16(d, unit);
  float invUnit = inverse(unit), stored = f16ToFloat(floatToF16(unit));
  for (int g = 0; g < 16; ++g) {
    scales[g] = nearest(steps[g] * invUnit, scaleLow, -scaleLow - 1);
    float inv = inverse(stored * static_cast<float>(scales[g]));
    for (int i = g * 16; i < (g + 1) * 16; ++i)
      codes[i] = static_cast<uint8_t>(nearest(x[i] * inv, low, -low - 1) - low);
  }
}

/// Q4_K's and Q5_K's 12 bytes of 6-bit scales and minima: scaleMinK4() in Dequantize.h reads them.
void storeScaleMins(const AffineGroups &g, uint8_t *s) {
  for (int j = 0; j < 4; ++j) {
    s[j] = static_cast<uint8_t>(g.scale[j] | (g.scale[j + 4] >> 4) << 6);
    s[j + 4] = static_cast<uint8_t>(g.min[j] | (g.min[j + 4] >> 4) << 6);
    s[j + 8] = static_cast<uint8_t>((g.scale[j + 4] & 15) | (g.min[j + 4] & 15) << 4);
  }
}

/// Two-bit codes: byte j of a half holds values j, j + 32, j + 64, j + 96.
void storeTwoBits(const uint8_t *codes, uint8_t *qs) {
  for (int i = 0; i < 256; ++i)
    qs[i / 128 * 32 + i % 32] |= static_cast<uint8_t>((codes[i] & 3) << 2 * (i % 128 / 32));
}

/// Nibbles: byte j of a quarter holds values j and j + 32.
void storeQuarters(const uint8_t *codes, uint8_t *qs) {
  for (int i = 0; i < 256; ++i)
    qs[i / 64 * 32 + i % 32] |= static_cast<uint8_t>((codes[i] & 15) << 4 * (i / 32 % 2));
}

} // namespace

void encodeQ2_K(const float *x, uint8_t *b) { // scales[16], q[64], d, dmin
  uint8_t codes[256];
  std::memset(b, 0, 84);
  AffineGroups g = fitGroups(x, 16, 3, 15, b + 80, b + 82, codes);
  for (int j = 0; j < 16; ++j)
    b[j] = static_cast<uint8_t>(g.scale[j] | g.min[j] << 4);
  storeTwoBits(codes, b + 16);
}

void encodeQ3_K(const float *x, uint8_t *b) { // high[32], q[64], scales[12], d
  uint8_t codes[256];
  int scales[16];
  std::memset(b, 0, 110);
  fitSigned(x, -4, -32, b + 108, scales, codes);
  for (int i = 0; i < 256; ++i)
    b[i % 32] |= static_cast<uint8_t>((codes[i] >> 2) << i / 32);
  storeTwoBits(codes, b + 32);
  for (int j = 0; j < 16; ++j) {
    int s = scales[j] + 32;
    b[96 + j % 8] |= static_cast<uint8_t>((s & 15) << 4 * (j / 8));
    b[104 + j % 4] |= static_cast<uint8_t>((s >> 4) << 2 * (j / 4));
  }
}

void encodeQ4_K(const float *x, uint8_t *b) { // d, dmin, scales[12], q[128]
  uint8_t codes[256];
  std::memset(b, 0, 144);
  storeScaleMins(fitGroups(x, 32, 15, 63, b, b + 2, codes), b + 4);
  storeQuarters(codes, b + 16);
}

void encodeQ5_K(const float *x, uint8_t *b) { // d, dmin, scales[12], high[32], q[128]
  uint8_t codes[256];
  std::memset(b, 0, 176);
  storeScaleMins(fitGroups(x, 32, 31, 63, b, b + 2, codes), b + 4);
  for (int i = 0; i < 256; ++i)
    b[16 + i % 32] |= static_cast<uint8_t>((codes[i] >> 4) << i / 32);
  storeQuarters(codes, b + 48);
}

void encodeQ6_K(const float *x, uint8_t *b) { // low[128], high[64], scales[16], d
  uint8_t codes[256];
  int scales[16];
  std::memset(b, 0, 210);
  fitSigned(x, -32, -128, b + 208, scales, codes);
  for (int j = 0; j < 16; ++j)
    b[192 + j] = static_cast<uint8_t>(scales[j]);
  for (int i = 0; i < 256; ++i) {
    int half = i / 128, quarter = i % 128 / 32, l = i % 32;
    b[half * 64 + quarter % 2 * 32 + l] |=
        static_cast<uint8_t>((codes[i] & 15) << 4 * (quarter / 2));
    b[128 + half * 32 + l] |= static_cast<uint8_t>((codes[i] >> 4) << 2 * quarter);
  }
}

} // namespace vetro::gguf
