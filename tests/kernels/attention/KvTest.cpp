// KV pages: stored and loaded values, addresses, neighbours left alone.
#include "runtime/abi/Float.h"
#include "runtime/abi/KvPage.h"
#include "tests/kernels/attention/Levels.h"
#include "tests/unit/Catch.h"
#include <algorithm>
#include <cstring>

using namespace vetro;
using namespace vetro::test;

TEST_CASE("addresses are those of the page layout") {
  const int32_t pages[] = {7, 2};
  // The example of KvPage.h: position 300, KV head 1 of 3, headDim 64.
  uint64_t page = 2ull * 3 * 256 * 64;
  CHECK(kOffset(pages, 300, 1, 3, 64) == page + (1 * 16 + 2) * 64 * 16 + 12);
  CHECK(vOffset(pages, 300, 1, 3, 64) == page + (1 * 256 + 44) * 64);
  CHECK(kvPageElements(3, 64) == 3 * 256 * 64);
}

TEST_CASE("no two elements share an address") {
  const int32_t pages[] = {1, 0};
  std::vector<uint64_t> k, v;
  for (uint32_t position = 0; position < 512; ++position)
    for (uint32_t head = 0; head < 2; ++head)
      for (uint32_t d = 0; d < 5; ++d) {
        k.push_back(kOffset(pages, position, head, 2, 5) + d * groupPositions);
        v.push_back(vOffset(pages, position, head, 2, 5) + d);
      }
  for (auto *list : {&k, &v}) {
    std::sort(list->begin(), list->end());
    for (size_t i = 0; i < list->size(); ++i)
      REQUIRE((*list)[i] == i); // exactly the elements of two pages
  }
}

namespace {
/// Two sequences of two pages on four pages, and tokens around the pages' edges.
const int32_t pages[] = {3, 1, 0, 2};
const int32_t positions[] = {0, 15, 16, 255, 256, 300, 7}, sequences[] = {0, 0, 0, 0, 0, 1, 1};
const VtBatch batch = {7, 0, nullptr, positions, sequences, nullptr, pages, 2};

/// One kind of state (keys or values) at one type.
struct Kind {
  bool half, key;
  auto store(const NativeKernels &l) const {
    return key ? (half ? l.vt_kv_store_k_f16 : l.vt_kv_store_k_f32)
               : (half ? l.vt_kv_store_v_f16 : l.vt_kv_store_v_f32);
  }
  auto load(const NativeKernels &l) const {
    return key ? (half ? l.vt_kv_load_k_f16 : l.vt_kv_load_k_f32)
               : (half ? l.vt_kv_load_v_f16 : l.vt_kv_load_v_f32);
  }
  float rounded(float x) const { return half ? f16ToFloat(floatToF16(x)) : x; }
};

void checkRoundTrip(Kind kind, uint32_t nHeadKV, uint32_t headDim, const NativeKernels &level) {
  const uint32_t width = nHeadKV * headDim;
  const size_t elementBytes = kind.half ? 2 : 4;
  std::vector<uint8_t> state(4 * kvPageElements(nHeadKV, headDim) * elementBytes, 0xff); // NaN
  std::vector<float> x = normals(7 * width, 1, kind.key ? 100 : 1e-5f);
  for (uint32_t t = 0; t < 7; ++t)
    kind.store(level)(state.data(), &batch, t, nHeadKV, headDim, &x[t * width]);
  size_t written = 0;
  for (size_t i = 0; i < state.size(); i += elementBytes)
    written += !(state[i] == 0xff && state[i + 1] == 0xff);
  CHECK(written == 7 * width); // and nothing beside them
  for (uint32_t t = 0; t < 7; ++t) {
    const int32_t *own = tokenPages(batch, t);
    const uint32_t position = uint32_t(positions[t]);
    std::vector<float> out(width);
    kind.load(level)(state.data(), own, position, nHeadKV, headDim, out.data());
    for (uint32_t i = 0; i < width; ++i)
      REQUIRE(out[i] == kind.rounded(x[t * width + i]));
    // The last element lies where the layout says.
    uint64_t at = kind.key ? kOffset(own, position, nHeadKV - 1, nHeadKV, headDim) +
                                 (headDim - 1) * groupPositions
                           : vOffset(own, position, nHeadKV - 1, nHeadKV, headDim) + headDim - 1;
    uint32_t bits = 0, expected = floatToF16(out[width - 1]);
    if (!kind.half)
      std::memcpy(&expected, &out[width - 1], 4);
    std::memcpy(&bits, &state[at * elementBytes], elementBytes);
    CHECK(bits == expected);
  }
}
} // namespace

TEST_CASE("stored keys and values come back, rounded to the cache's type") {
  for (const NativeKernels *level : runnableLevels())
    for (uint32_t headDim : {1u, 8u, 16u, 64u, 80u, 256u})
      for (uint32_t nHeadKV : {1u, 3u})
        for (Kind kind : {Kind{true, true}, {true, false}, {false, true}, {false, false}})
          checkRoundTrip(kind, nHeadKV, headDim, *level);
}

TEST_CASE("all F16 values load exactly") {
  std::vector<uint16_t> v(65536); // one head of one page
  for (uint32_t i = 0; i < 65536; ++i)
    v[i] = uint16_t(i);
  const int32_t page = 0;
  for (const NativeKernels *level : runnableLevels())
    for (uint32_t position = 0; position < 256; ++position) {
      std::vector<float> out(256), expected(256);
      for (uint32_t d = 0; d < 256; ++d)
        expected[d] = f16ToFloat(uint16_t(position * 256 + d));
      level->vt_kv_load_v_f16(v.data(), &page, position, 1, 256, out.data());
      REQUIRE(sameBits(out, expected));
    }
}
