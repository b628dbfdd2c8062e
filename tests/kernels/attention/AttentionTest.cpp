// Attention against the definition in double precision, over shapes.
#include "tests/kernels/attention/Case.h"
#include "tests/unit/Catch.h"
#include <cmath>

using namespace vetro;
using namespace vetro::test;

// F32 sums of up to 256 products per score and of up to 700 values: relative errors of 1e-6 of
// single entries, squared 1e-12.
static constexpr double bound = 1e-11;

/// Some tokens of each sequence, always the last: the reference is slow.
static std::vector<Case::Token> someTokens(const Case &c, size_t step) {
  std::vector<Case::Token> all = c.allTokens(), some;
  for (size_t i = 0; i < all.size(); ++i)
    if (i % step == 0 || i + 1 == all.size() || all[i + 1].sequence != all[i].sequence)
      some.push_back(all[i]);
  return some;
}

static void check(const Shape &shape, size_t step = 1) {
  Case c(shape, 11);
  auto tokens = someTokens(c, step);
  auto expected = c.reference(tokens);
  for (const NativeKernels *level : runnableLevels()) {
    INFO(level->level << " heads " << shape.nHead << "/" << shape.nHeadKV << " headDim "
                      << shape.headDim << " window " << shape.window << " length "
                      << shape.lengths[0]);
    CHECK(nmse(c.run(*level, tokens), expected) < bound);
  }
}

TEST_CASE("head sizes and cache types") {
  for (uint32_t headDim : {1u, 8u, 16u, 20u, 64u, 80u, 96u, 128u, 256u, 272u, 576u})
    for (bool half : {true, false})
      check({.nHead = 3, .nHeadKV = 1, .headDim = headDim, .half = half, .lengths = {37}}, 3);
}

TEST_CASE("groups of query heads") {
  for (uint32_t group : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 12u, 13u, 16u})
    for (uint32_t nHeadKV : {1u, 3u})
      check({.nHead = group * nHeadKV, .nHeadKV = nHeadKV, .headDim = 16, .lengths = {40}});
}

TEST_CASE("lengths around a page's edges") {
  for (uint32_t length : {1u, 2u, 15u, 16u, 17u, 255u, 256u, 257u, 511u, 512u, 513u, 700u})
    check({.nHead = 6, .nHeadKV = 2, .headDim = 16, .lengths = {length}}, 13);
}

TEST_CASE("windows") {
  for (uint32_t window : {1u, 2u, 16u, 17u, 255u, 256u, 257u, 512u, 1000u})
    for (bool half : {true, false})
      check({.nHead = 4,
             .nHeadKV = 1,
             .headDim = 8,
             .window = window,
             .half = half,
             .lengths = {600}},
            7);
}

TEST_CASE("soft-caps") {
  for (float softcap : {0.5f, 5.f, 50.f})
    for (uint32_t window : {0u, 17u})
      check({.nHead = 4,
             .nHeadKV = 2,
             .headDim = 64,
             .window = window,
             .softcap = softcap,
             .lengths = {300}},
            5);
}

TEST_CASE("several sequences with scattered pages") {
  check({.nHead = 6, .nHeadKV = 2, .headDim = 32, .lengths = {300, 1, 256, 77}}, 3);
}

TEST_CASE("a token that sees itself alone gets its own value") {
  Shape shape = {.nHead = 2, .nHeadKV = 2, .headDim = 16, .window = 1, .lengths = {300}};
  Case c(shape, 3);
  auto tokens = c.allTokens();
  auto expected = c.reference(tokens);
  for (const NativeKernels *level : runnableLevels()) {
    auto got = c.run(*level, tokens);
    for (size_t i = 0; i < got.size(); ++i)
      REQUIRE(got[i] == float(expected[i]));
  }
}

TEST_CASE("numbers that are not finite show in the result, in their head alone") {
  Shape shape = {.nHead = 2, .nHeadKV = 2, .headDim = 16, .half = false, .lengths = {30}};
  for (const NativeKernels *level : runnableLevels()) {
    Case c(shape, 3);
    c.poison(0, 19, INFINITY); // positions from 20 on
    auto got = c.run(*level, {{0, 19}, {0, 25}});
    for (uint32_t i = 0; i < c.width(); ++i) {
      CHECK(std::isfinite(got[i]));
      CHECK(!std::isfinite(got[c.width() + i]));
    }
  }
}
