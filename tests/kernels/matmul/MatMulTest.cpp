// Every matmul and gather kernel at every level this CPU has, against sums in double precision of
// the dequantised weights and the values of the activation records.
#include "runtime/kernels/cpu/Bitcode.h"
#include "runtime/kernels/cpu/Native.h"
#include "tests/kernels/matmul/Operands.h"
#include "tests/unit/Catch.h"
#include "tests/unit/TestData.h"
#include <cstring>

using namespace vetro;
using namespace vetro::test;

static std::vector<const NativeKernels *> levelsHere() {
  std::vector<const NativeKernels *> levels;
  for (unsigned i = 0; i < numKernelLevels; ++i)
    if (cpuHasLevel(nativeKernels()[i].level))
      levels.push_back(&nativeKernels()[i]);
    else
      skip(std::string("level ") + nativeKernels()[i].level + ": this CPU lacks it");
  return levels;
}

static std::vector<Format> formats() {
  std::vector<Format> list;
  for (const FormatInfo &info : formatTable)
    if (hasTiles(info.format))
      list.push_back(info.format);
  return list;
}

static constexpr float untouched = -12345.5f;

/// y[t][r] for rows [begin, end), checked to write nothing else.
static std::vector<float> run(const NativeKernels &kernels, const Weight &w, const Activations &x,
                              uint32_t firstToken, uint32_t nTokens, uint32_t begin, uint32_t end,
                              uint32_t records = 1) {
  uint64_t stride = end - begin + 5;
  std::vector<float> y(nTokens * stride + 16, untouched), out;
  kernels.matmul(w.format)(w.packed, w.k, begin, end, x.token(firstToken), x.stride, records,
                           nTokens, y.data(), stride);
  bool clean = true;
  for (uint64_t i = 0; i < y.size(); ++i) {
    bool inside = i < nTokens * stride && i % stride < end - begin;
    if (inside)
      out.push_back(y[i]);
    else
      clean &= y[i] == untouched;
  }
  REQUIRE(clean);
  return out;
}

static std::vector<double> expected(const Weight &w, const Activations &x, uint32_t nTokens) {
  std::vector<double> y(nTokens * w.n);
  std::vector<float> row(w.k);
  for (uint64_t r = 0; r < w.n; ++r) {
    dequantizeRow(w.format, &w.file[r * rowBytes(w.format, w.k)], w.k, row.data());
    for (uint32_t t = 0; t < nTokens; ++t)
      for (uint64_t i = 0; i < w.k; ++i)
        y[t * w.n + r] += (double)row[i] * activation(w.format, x.token(t), w.k, i);
  }
  return y;
}

/// Sum of squared errors over the sum of squares; 0 where both are zero.
static double nmse(const std::vector<float> &y, const std::vector<double> &want) {
  double error = 0, power = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    error += (y[i] - want[i]) * (y[i] - want[i]);
    power += want[i] * want[i];
  }
  return error == 0 ? 0 : error / power;
}

static bool sameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && memcmp(a.data(), b.data(), a.size() * 4) == 0;
}

static std::vector<uint64_t> lengths(Format f) {
  std::vector<uint64_t> ks{formatInfo(f).blockLen};
  for (uint64_t k : {576, 1536, 2048, 5, 7})
    if (k % formatInfo(f).blockLen == 0)
      ks.push_back(k);
  return ks;
}

TEST_CASE("matmul is the sum of products, for all shapes and levels") {
  auto levels = levelsHere();
  for (Format f : formats())
    for (uint64_t k : lengths(f))
      for (uint32_t n : {1, 15, 16, 17, 33}) {
        Weight w = makeWeight(f, n, k, Values::Ordinary, n + (unsigned)k);
        uint32_t most = k > 600 ? 9 : 33;
        Activations x = makeActivations(f, most, k, false, 3);
        std::vector<double> want = expected(w, x, most);
        for (const NativeKernels *level : levels) {
          INFO(formatInfo(f).name << " " << level->level << " rows " << n << " k " << k);
          std::vector<float> all = run(*level, w, x, 0, most, 0, n);
          // One row's few outputs may all be small differences of large sums.
          REQUIRE(nmse(all, want) <= (n == 1 ? 1e-11 : 1e-12));
          for (uint32_t tokens : {1, 2, 7, 8, 9, 33}) // one token's bits do not know the others
            if (tokens <= most)
              REQUIRE(sameBits(run(*level, w, x, 0, tokens, 0, n),
                               {all.begin(), all.begin() + tokens * n}));
        }
      }
}

TEST_CASE("a token alone and a row range have the bits of the whole") {
  for (Format f : formats()) {
    Weight w = makeWeight(f, 49, 768, Values::Ordinary, 11);
    Activations x = makeActivations(f, 13, 768, false, 5);
    for (const NativeKernels *level : levelsHere()) {
      INFO(formatInfo(f).name << " " << level->level);
      std::vector<float> all = run(*level, w, x, 0, 13, 0, 49);
      for (uint32_t t = 0; t < 13; ++t)
        REQUIRE(sameBits(run(*level, w, x, t, 1, 0, 49),
                         {all.begin() + t * 49, all.begin() + (t + 1) * 49}));
      std::vector<float> some = run(*level, w, x, 0, 13, 16, 43), slice;
      for (uint32_t t = 0; t < 13; ++t)
        slice.insert(slice.end(), all.begin() + t * 49 + 16, all.begin() + t * 49 + 43);
      REQUIRE(sameBits(some, slice));
    }
  }
}

TEST_CASE("many tokens, and lengths that fill no whole chunk, have the bits of one token") {
  for (Format f : formats())
    for (uint64_t k : {1120, 1280}) {
      if (k % formatInfo(f).blockLen)
        continue;
      Weight w = makeWeight(f, 20, k, Values::Ordinary, 12);
      Activations x = makeActivations(f, 135, k, false, 6);
      for (const NativeKernels *level : levelsHere()) {
        INFO(formatInfo(f).name << " " << level->level << " k " << k);
        std::vector<float> all = run(*level, w, x, 0, 135, 0, 20);
        REQUIRE(nmse(all, expected(w, x, 135)) <= 1e-12);
        for (uint32_t t : {0, 1, 63, 64, 71, 127, 128, 134})
          REQUIRE(sameBits(run(*level, w, x, t, 1, 0, 20),
                           {all.begin() + t * 20, all.begin() + (t + 1) * 20}));
        for (uint32_t first : {0, 60})
          for (uint32_t tokens : {3, 4, 5, 66})
            REQUIRE(sameBits(run(*level, w, x, first, tokens, 0, 20),
                             {all.begin() + first * 20, all.begin() + (first + tokens) * 20}));
      }
    }
}

TEST_CASE("a token of two records has the sum of their products") {
  for (Format f : formats()) {
    if (!readsA8(f))
      continue;
    Weight w = makeWeight(f, 33, 768, Values::Ordinary, 31);
    Activations x = makeActivations(f, 140, 768, false, 6);
    for (const NativeKernels *level : levelsHere()) {
      INFO(formatInfo(f).name << " " << level->level);
      std::vector<float> each = run(*level, w, x, 0, 140, 0, 33), sums(70 * 33);
      for (size_t i = 0; i < sums.size(); ++i)
        sums[i] = each[i / 33 * 66 + i % 33] + each[i / 33 * 66 + 33 + i % 33];
      for (uint32_t tokens : {1, 2, 3, 32, 33, 70}) // one tile, few, panels, more than one panel
        REQUIRE(sameBits(run(*level, w, x, 0, tokens, 0, 33, 2),
                         {sums.begin(), sums.begin() + tokens * 33}));
    }
  }
}

TEST_CASE("levels with fused multiply-add agree in every bit") {
  auto levels = levelsHere();
  if (levels.size() < 3)
    return skip("fewer than two levels with fused multiply-add here");
  for (Format f : formats())
    for (Values values : allValues) {
      Weight w = makeWeight(f, 17, 1536, values, 21);
      Activations x = makeActivations(f, 9, 1536, values == Values::AllOnes, 8);
      std::vector<float> first = run(*levels[1], w, x, 0, 9, 0, 17);
      for (size_t i = 2; i < levels.size(); ++i) {
        INFO(formatInfo(f).name << " " << levels[i]->level << " values " << (int)values);
        REQUIRE(sameBits(run(*levels[i], w, x, 0, 9, 0, 17), first));
      }
    }
}

TEST_CASE("extreme weights and activations stay exact") {
  for (Format f : formats())
    for (Values values : allValues)
      for (bool extreme : {false, true}) {
        Weight w = makeWeight(f, 17, 768, values, 31);
        Activations x = makeActivations(f, 9, 768, extreme, 9);
        std::vector<double> want = expected(w, x, 9);
        for (const NativeKernels *level : levelsHere()) {
          INFO(formatInfo(f).name << " " << level->level << " values " << (int)values);
          REQUIRE(nmse(run(*level, w, x, 0, 9, 0, 17), want) <= 1e-12);
        }
      }
}

TEST_CASE("gather gives dequantizeRow's values, bit for bit") {
  for (Format f : formats())
    for (uint64_t k : lengths(f)) {
      Weight w = makeWeight(f, 17, k, Values::Ordinary, 41);
      std::vector<float> want(k), row(k + 1, untouched);
      for (const NativeKernels *level : levelsHere())
        for (uint64_t r : {0, 1, 15, 16}) {
          INFO(formatInfo(f).name << " " << level->level << " k " << k << " row " << r);
          dequantizeRow(f, &w.file[r * rowBytes(f, k)], k, want.data());
          level->gather(f)(w.packed, k, r, row.data());
          REQUIRE(memcmp(want.data(), row.data(), k * 4) == 0);
          REQUIRE(row[k] == untouched);
        }
    }
}

TEST_CASE("every format with tiles has its kernels, and every level is embedded") {
  for (unsigned i = 0; i < numKernelLevels; ++i) {
    const KernelBitcode &bitcode = kernelBitcode()[i];
    REQUIRE(strcmp(bitcode.level, nativeKernels()[i].level) == 0);
    REQUIRE(bitcode.end - bitcode.begin > 1000);
    REQUIRE(memcmp(bitcode.begin, "BC\xc0\xde", 4) == 0);
    for (const FormatInfo &info : formatTable) {
      INFO(info.name);
      REQUIRE((nativeKernels()[i].matmul(info.format) != nullptr) == hasTiles(info.format));
      REQUIRE((nativeKernels()[i].gather(info.format) != nullptr) == hasTiles(info.format));
    }
  }
  REQUIRE(!cpuHasLevel("avx1024"));
}
