#include "tests/kernels/matmul/Operands.h"
#include <cmath>
#include <cstring>

namespace vetro::test {

static uint8_t *aligned(std::vector<uint8_t> &memory, size_t bytes) {
  memory.resize(bytes + 64);
  return (uint8_t *)(((uintptr_t)memory.data() + 63) / 64 * 64);
}

/// The f16 fields of a block, all of them scales, where the block is quantised.
static std::vector<unsigned> halfOffsets(Format f) {
  std::vector<unsigned> offsets;
  const TileLayout &layout = tileLayout(f);
  for (unsigned i = 0; i < layout.numFields; ++i)
    if (layout.fields[i].word == 2 && layout.blockLen > 1)
      offsets.push_back(layout.fields[i].offset);
  return offsets;
}

static float scaleOf(Values values, std::mt19937 &random) {
  std::normal_distribution<float> normal;
  switch (values) {
  case Values::ZeroScale:
    return random() % 2 ? 0.0f : -0.0f;
  case Values::DenormalScale:
    return 0x1p-24f * (float)(random() % 1023);
  case Values::LargeScale:
    return random() % 2 ? 65504.0f : -60000.0f;
  default:
    return 0.05f * normal(random);
  }
}

static void fillBlock(Format f, Values values, std::mt19937 &random, uint8_t *block) {
  unsigned bytes = formatInfo(f).blockBytes;
  for (unsigned i = 0; i < bytes; ++i)
    block[i] = values == Values::AllOnes       ? 0xff
               : values == Values::AllZeros    ? 0
               : values == Values::AllSignBits ? 0x80
                                               : (uint8_t)random();
  for (unsigned offset : halfOffsets(f)) {
    uint16_t half = floatToF16(scaleOf(values, random));
    memcpy(block + offset, &half, 2);
  }
  float value = scaleOf(values == Values::LargeScale ? values : Values::Ordinary, random);
  uint16_t half = f == Format::F16 ? floatToF16(value) : floatToBf16(value);
  if (f == Format::F32)
    memcpy(block, &value, 4);
  else if (bytes == 2)
    memcpy(block, &half, 2);
}

Weight makeWeight(Format f, uint64_t n, uint64_t k, Values values, unsigned seed) {
  Weight w{f, n, k, {}, {}, nullptr};
  std::mt19937 random(seed);
  uint64_t row = rowBytes(f, k);
  w.file.resize(n * row);
  for (uint64_t i = 0; i < w.file.size(); i += formatInfo(f).blockBytes)
    fillBlock(f, values, random, &w.file[i]);
  w.packed = aligned(w.memory, packedBytes(f, n, k));
  for (uint64_t first = 0; first < n; first += tileRows) {
    const uint8_t *rows[16];
    for (uint64_t r = 0; r < tileRows; ++r)
      rows[r] = first + r < n ? &w.file[(first + r) * row] : nullptr;
    packTile(f, k, rows, w.packed + first / tileRows * tileBytes(f, k));
  }
  return w;
}

bool readsA8(Format f) { return tileLayout(f).blockLen >= 32; }

/// One token's record from its values (Kernel.h).
static void makeRecord(const std::vector<float> &x, bool extreme, uint8_t *record) {
  uint64_t k = x.size();
  int8_t *q = (int8_t *)record;
  float *d = (float *)(record + a8ScalesOffset(k));
  int16_t *sums = (int16_t *)(record + a8SumsOffset(k));
  for (uint64_t b = 0; b < k / 32; ++b) {
    float most = 0;
    for (int i = 0; i < 32; ++i)
      most = std::max(most, std::fabs(x[32 * b + i]));
    d[b] = most / 127;
    for (int i = 0; i < 32; ++i)
      q[32 * b + i] =
          (int8_t)(extreme ? (x[32 * b + i] < 0 ? -127 : 127) : std::lrintf(x[32 * b + i] / d[b]));
    for (int h = 0; h < 2; ++h) {
      int sum = 0;
      for (int i = 0; i < 16; ++i)
        sum += q[32 * b + 16 * h + i];
      sums[2 * b + h] = (int16_t)sum;
    }
  }
}

Activations makeActivations(Format f, uint64_t tokens, uint64_t k, bool extreme, unsigned seed) {
  Activations a{readsA8(f) ? a8Stride(k) : k * 4, {}, nullptr};
  a.data = aligned(a.memory, a.stride * tokens);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (uint64_t t = 0; t < tokens; ++t) {
    // Every third token has one sign only, so that sums of integers reach their largest values.
    std::vector<float> x(k);
    for (float &v : x)
      v = t % 3 ? normal(random) : std::fabs(normal(random)) + 0.01f;
    if (readsA8(f))
      makeRecord(x, extreme, a.data + t * a.stride);
    else
      memcpy(a.data + t * a.stride, x.data(), k * 4);
  }
  return a;
}

double activation(Format f, const uint8_t *token, uint64_t k, uint64_t i) {
  if (!readsA8(f))
    return ((const float *)token)[i];
  return (double)((const int8_t *)token)[i] *
         (double)((const float *)(token + a8ScalesOffset(k)))[i / 32];
}

} // namespace vetro::test
