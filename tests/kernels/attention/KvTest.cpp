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

template <bool Half> static void checkRoundTrip(uint32_t nHeadKV, uint32_t headDim) {
  const uint32_t width = nHeadKV * headDim, nPages = 4;
  const int32_t pages[] = {3, 1, 0, 2}; // two sequences of two pages
  const int32_t positions[] = {0, 15, 16, 255, 256, 300, 7}, sequences[] = {0, 0, 0, 0, 0, 1, 1};
  VtBatch batch = {7, 0, nullptr, positions, sequences, nullptr, pages, 2};
  const size_t bytes = nPages * kvPageElements(nHeadKV, headDim) * (Half ? 2 : 4);
  for (const NativeKernels *level : runnableLevels()) {
    std::vector<uint8_t> k(bytes, 0xff), v(bytes, 0xff); // NaN everywhere
    std::vector<float> xk = normals(7 * width, 1, 100), xv = normals(7 * width, 2, 1e-5f);
    for (uint32_t t = 0; t < 7; ++t) {
      auto storeK = Half ? level->vt_kv_store_k_f16 : level->vt_kv_store_k_f32;
      auto storeV = Half ? level->vt_kv_store_v_f16 : level->vt_kv_store_v_f32;
      storeK(k.data(), &batch, t, nHeadKV, headDim, &xk[t * width]);
      storeV(v.data(), &batch, t, nHeadKV, headDim, &xv[t * width]);
    }
    size_t written = 0;
    for (auto *state : {&k, &v})
      for (size_t i = 0; i < bytes; i += Half ? 2 : 4)
        written += !((*state)[i] == 0xff && (*state)[i + 1] == 0xff);
    CHECK(written == 2 * 7 * width);
    for (uint32_t t = 0; t < 7; ++t) {
      std::vector<float> out(width);
      auto loadK = Half ? level->vt_kv_load_k_f16 : level->vt_kv_load_k_f32;
      auto loadV = Half ? level->vt_kv_load_v_f16 : level->vt_kv_load_v_f32;
      const int32_t *own = tokenPages(batch, t);
      auto expected = [](float x) { return Half ? f16ToFloat(floatToF16(x)) : x; };
      loadK(k.data(), own, uint32_t(positions[t]), nHeadKV, headDim, out.data());
      for (uint32_t i = 0; i < width; ++i)
        REQUIRE(out[i] == expected(xk[t * width + i]));
      loadV(v.data(), own, uint32_t(positions[t]), nHeadKV, headDim, out.data());
      for (uint32_t i = 0; i < width; ++i)
        REQUIRE(out[i] == expected(xv[t * width + i]));
      // The element that the layout names.
      uint64_t at = kOffset(own, uint32_t(positions[t]), nHeadKV - 1, nHeadKV, headDim) +
                    (headDim - 1) * groupPositions;
      if (Half) {
        uint16_t bits;
        std::memcpy(&bits, &k[2 * at], 2);
        CHECK(bits == floatToF16(xk[t * width + width - 1]));
      }
    }
  }
}

TEST_CASE("stored keys and values come back, rounded to the cache's type") {
  for (uint32_t headDim : {1u, 8u, 16u, 64u, 80u, 256u})
    for (uint32_t nHeadKV : {1u, 3u}) {
      checkRoundTrip<true>(nHeadKV, headDim);
      checkRoundTrip<false>(nHeadKV, headDim);
    }
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
