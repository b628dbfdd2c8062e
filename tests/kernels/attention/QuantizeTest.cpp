// The int8 activation record: every entry against its definition, and values that are no numbers.
#include "tests/kernels/attention/Levels.h"
#include "tests/unit/Catch.h"
#include <cmath>
#include <cstring>

using namespace vetro;
using namespace vetro::test;

namespace {
struct Record {
  uint64_t k;
  std::vector<uint8_t> bytes;
  explicit Record(uint64_t k, uint32_t records = 1) : k(k), bytes(records * a8Stride(k), 0xee) {}
  int8_t q(uint64_t i) const { return int8_t(bytes[i]); }
  float d(uint64_t block) const {
    float value;
    std::memcpy(&value, &bytes[a8ScalesOffset(k) + 4 * block], 4);
    return value;
  }
  int16_t sum16(uint64_t i) const {
    int16_t value;
    std::memcpy(&value, &bytes[a8SumsOffset(k) + 2 * i], 2);
    return value;
  }
};

Record quantize(const NativeKernels &kernels, const std::vector<float> &x, uint32_t records = 1) {
  Record record(x.size(), records);
  kernels.vt_quantize_a8(x.data(), x.size(), 0, x.size() / 32, records, record.bytes.data());
  return record;
}
} // namespace

TEST_CASE("a8 records follow the definition") {
  for (uint64_t k : {32u, 64u, 576u, 1536u}) {
    std::vector<float> x = normals(k, k, 3);
    for (uint64_t i = 0; i < k; i += 64) // blocks of very different sizes
      for (uint64_t j = i; j < i + 32 && j < k; ++j)
        x[j] *= 1e-20f;
    for (const NativeKernels *kernels : runnableLevels()) {
      Record record = quantize(*kernels, x);
      for (uint64_t block = 0; block < k / 32; ++block) {
        float most = 0;
        for (uint64_t i = 32 * block; i < 32 * block + 32; ++i)
          most = std::max(most, std::abs(x[i]));
        REQUIRE(record.d(block) == most / 127.0f);
        int sums[2] = {0, 0};
        for (uint64_t i = 32 * block; i < 32 * block + 32; ++i) {
          REQUIRE(int(record.q(i)) == int(std::nearbyint(x[i] * (127.0f / most))));
          sums[i / 16 % 2] += record.q(i);
        }
        REQUIRE(record.sum16(2 * block) == sums[0]);
        REQUIRE(record.sum16(2 * block + 1) == sums[1]);
      }
      for (uint64_t i = k + k / 4; i < record.bytes.size(); ++i)
        REQUIRE(record.bytes[i] == 0xee); // padding is not touched
    }
  }
}

TEST_CASE("ties round to even codes") {
  std::vector<float> x(32, 0.f);
  x[0] = 127;
  x[1] = 0.5f;
  x[2] = 1.5f;
  x[3] = -2.5f;
  for (const NativeKernels *kernels : runnableLevels()) {
    Record record = quantize(*kernels, x);
    CHECK(record.d(0) == 1);
    CHECK(record.q(0) == 127);
    CHECK(record.q(1) == 0);
    CHECK(record.q(2) == 2);
    CHECK(record.q(3) == -2);
  }
}

TEST_CASE("ranges of blocks fill their part of the record") {
  std::vector<float> x = normals(320, 1);
  for (const NativeKernels *kernels : runnableLevels()) {
    Record whole = quantize(*kernels, x), parts(320);
    for (auto [begin, end] : {std::pair{4u, 10u}, {0u, 1u}, {1u, 4u}, {3u, 3u}})
      kernels->vt_quantize_a8(x.data() + 32 * begin, 320, begin, end, 1, parts.bytes.data());
    CHECK(parts.bytes == whole.bytes);
  }
}

TEST_CASE("zeros and tiny blocks give zero, infinity and NaN show in the scale") {
  for (const NativeKernels *kernels : runnableLevels()) {
    for (float tiny : {0.f, -0.f, 1e-40f, 3e-37f}) {
      Record record = quantize(*kernels, std::vector<float>(32, tiny));
      CHECK(record.d(0) == 0);
      CHECK(record.q(7) == 0);
      CHECK(record.sum16(1) == 0);
    }
    std::vector<float> x(64, 1.f);
    x[3] = INFINITY;
    x[40] = NAN;
    x[41] = INFINITY;
    Record record = quantize(*kernels, x);
    CHECK(record.d(0) == INFINITY);
    CHECK(std::isnan(record.d(1)));
    for (uint64_t i = 0; i < 64; ++i)
      CHECK(record.q(i) >= -127);
    x = std::vector<float>(32, 3e38f);
    record = quantize(*kernels, x);
    CHECK(std::isfinite(record.d(0)));
    CHECK(record.q(0) == 127);
  }
}

TEST_CASE("all levels give the same record") {
  std::vector<float> x = normals(3200, 5);
  auto levels = runnableLevels();
  for (const NativeKernels *kernels : levels)
    for (uint32_t records : {1, 2})
      CHECK(quantize(*kernels, x, records).bytes == quantize(*levels[0], x, records).bytes);
}

TEST_CASE("the second record of a8x2 is that of what the first one leaves") {
  std::vector<float> x = normals(576, 9, 3);
  for (uint64_t i = 0; i < 32; ++i)
    x[i] = 1e-36f; // what such a block leaves is too small for a scale
  for (const NativeKernels *kernels : runnableLevels()) {
    Record both = quantize(*kernels, x, 2), first = quantize(*kernels, x);
    std::vector<float> rest;
    for (uint64_t i = 0; i < x.size(); ++i)
      rest.push_back(x[i] - float(first.q(i)) * first.d(i / 32));
    Record second = quantize(*kernels, rest);
    uint64_t stride = a8Stride(576);
    CHECK(std::equal(first.bytes.begin(), first.bytes.end(), both.bytes.begin()));
    CHECK(std::equal(second.bytes.begin(), second.bytes.end(), both.bytes.begin() + stride));
    for (uint64_t i = 32; i < x.size(); ++i) {
      double most = first.d(i / 32) * 127.0; // 15 bits of the block's largest value
      double stands = double(first.q(i)) * first.d(i / 32) + double(second.q(i)) * second.d(i / 32);
      REQUIRE(std::fabs(stands - x[i]) <= most / 64516 * 1.01);
    }
  }
}
