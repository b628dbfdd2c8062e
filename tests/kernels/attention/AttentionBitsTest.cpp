// Attention's promise: a token's bits depend on its own sequence alone.
#include "tests/kernels/attention/Case.h"
#include "tests/unit/Catch.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

using namespace vetro;
using namespace vetro::test;

namespace {
const Shape shapes[] = {
    {.nHead = 9, .nHeadKV = 3, .headDim = 64, .lengths = {300, 40}},
    {.nHead = 4, .nHeadKV = 1, .headDim = 256, .window = 100, .lengths = {270}},
    {.nHead = 8, .nHeadKV = 4, .headDim = 8, .window = 17, .half = false, .lengths = {260, 3, 50}},
    {.nHead = 8, .nHeadKV = 1, .headDim = 80, .softcap = 5, .lengths = {64}},
    {.nHead = 2, .nHeadKV = 1, .headDim = 272, .half = false, .lengths = {33, 33}},
};

/// Row i of results of `width` values each.
std::vector<float> row(const std::vector<float> &all, size_t i, size_t width) {
  return {all.begin() + long(i * width), all.begin() + long((i + 1) * width)};
}
} // namespace

TEST_CASE("a token alone equals the token in a batch") {
  for (const Shape &shape : shapes) {
    Case c(shape, 5);
    auto tokens = c.allTokens();
    for (const NativeKernels *level : runnableLevels()) {
      auto batched = c.run(*level, tokens);
      for (size_t i = 0; i < tokens.size(); i += 1 + i % 5)
        REQUIRE(sameBits(row(batched, i, c.width()), c.run(*level, {tokens[i]})));
    }
  }
}

TEST_CASE("order and company of tokens do not matter") {
  for (const Shape &shape : shapes) {
    Case c(shape, 6);
    auto tokens = c.allTokens(), mixed = tokens;
    std::vector<size_t> order(tokens.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    for (size_t i = 0; i < order.size(); ++i)
      mixed[i] = tokens[order[i]];
    for (const NativeKernels *level : runnableLevels()) {
      auto inOrder = c.run(*level, tokens), inDisorder = c.run(*level, mixed);
      for (size_t i = 0; i < order.size(); ++i)
        REQUIRE(sameBits(row(inDisorder, i, c.width()), row(inOrder, order[i], c.width())));
    }
  }
}

TEST_CASE("the split of units does not matter, and every unit is computed once") {
  for (const Shape &shape : shapes) {
    Case c(shape, 7);
    auto tokens = c.allTokens();
    const uint32_t nUnits = uint32_t(tokens.size()) * shape.nHeadKV;
    for (const NativeKernels *level : runnableLevels()) {
      auto whole = c.run(*level, tokens);
      for (unsigned seed = 0; seed < 4; ++seed) {
        std::mt19937 random(seed);
        std::vector<uint32_t> cuts;
        for (unsigned i = 0; i < 1 + 5 * seed; ++i)
          cuts.push_back(random() % (nUnits + 1));
        std::sort(cuts.begin(), cuts.end());
        REQUIRE(sameBits(c.run(*level, tokens, cuts), whole));
      }
    }
  }
}

TEST_CASE("what lies elsewhere in the pages does not matter") {
  for (const Shape &shape : shapes)
    for (const NativeKernels *level : runnableLevels())
      for (float garbage : {0.f, NAN, INFINITY, -3e4f}) {
        Case c(shape, 8);
        Case::Token token = {0, int32_t(shape.lengths[0]) - 7};
        auto before = c.run(*level, {token});
        c.poison(0, uint32_t(token.position), garbage);
        REQUIRE(sameBits(c.run(*level, {token}), before));
        // Tokens beside it that do see garbage leave it alone.
        auto crowd = c.run(*level, {{0, token.position - 1}, token, {0, token.position + 1}});
        REQUIRE(sameBits(row(crowd, 1, c.width()), before));
      }
}

TEST_CASE("levels with FMA give the same bits") {
  for (const Shape &shape : shapes) {
    Case c(shape, 9);
    std::vector<float> first;
    for (const NativeKernels *level : runnableLevels()) {
      auto got = c.run(*level, c.allTokens());
      if (!hasFma(*level))
        continue;
      if (first.empty())
        first = got;
      REQUIRE(sameBits(got, first));
    }
  }
}

// Not a check (the machine may be busy): prints what 30 layers of SmolLM2's shape cost.
// Run with: kernels_attention "[.speed]"
TEST_CASE("cost of attention", "[.speed]") {
  Case c({.nHead = 9, .nHeadKV = 3, .headDim = 64, .lengths = {1001}}, 1);
  auto cpuMs = [] { // of this process: waiting for the processor does not count
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
  };
  auto ms = [&](auto &&work, int n) {
    double best = 1e9;
    for (int i = 0; i < n; ++i) {
      double start = cpuMs();
      work();
      best = std::min(best, cpuMs() - start);
    }
    return best;
  };
  auto all = c.allTokens();
  std::vector<Case::Token> prompt(all.begin(), all.begin() + 512);
  for (const NativeKernels *level : runnableLevels()) {
    auto decode = [&] {
      for (int layer = 0; layer < 30; ++layer)
        c.run(*level, {{0, 1000}});
    };
    auto prefill = [&] { c.run(*level, prompt); };
    double decodeMs = ms(decode, 20), prefillMs = 30 * ms(prefill, 3);
    std::printf("%-7s decode at 1000: %.2f ms, prefill of 512: %.1f ms\n", level->level, decodeMs,
                prefillMs);
    CHECK(decodeMs > 0);
  }
}
