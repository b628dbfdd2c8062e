// exp, tanh, sin and cos of the kernels against libm in F64.
#include "tests/kernels/attention/Levels.h"
#include "tests/unit/Catch.h"
#include <cmath>
#include <cstring>

using namespace vetro;
using namespace vetro::test;

extern "C" {
using Probe = void(const float *x, float *y, uint32_t n);
Probe vt_probe_exp__scalar, vt_probe_exp__avx2, vt_probe_exp__avx512;
Probe vt_probe_tanh__scalar, vt_probe_tanh__avx2, vt_probe_tanh__avx512;
}

namespace {
struct ProbeLevel {
  const char *level;
  Probe *exp, *tanh;
};
const ProbeLevel allProbes[] = {
    {"scalar", vt_probe_exp__scalar, vt_probe_tanh__scalar},
    {"avx2", vt_probe_exp__avx2, vt_probe_tanh__avx2},
    {"avx512", vt_probe_exp__avx512, vt_probe_tanh__avx512},
};

std::vector<float> apply(Probe *probe, std::vector<float> x) {
  x.resize((x.size() + 15) / 16 * 16);
  std::vector<float> y(x.size());
  probe(x.data(), y.data(), uint32_t(x.size()));
  return y;
}

/// |got - expected| in units of the last place of the float nearest to expected.
double ulps(float got, double expected) {
  float nearest = std::abs(float(expected));
  double unit = double(std::nextafter(nearest, INFINITY)) - nearest;
  return std::abs(got - expected) / unit;
}

/// Every 997th float whose magnitude is between the two.
std::vector<float> sample(float low, float high) {
  std::vector<float> x;
  uint32_t begin, end;
  std::memcpy(&begin, &low, 4);
  std::memcpy(&end, &high, 4);
  for (uint32_t bits = begin; bits < end; bits += 997) {
    float value;
    std::memcpy(&value, &bits, 4);
    x.push_back(value);
    x.push_back(-value);
  }
  return x;
}
} // namespace

TEST_CASE("exp is within 2 ulp, denormal results included") {
  std::vector<float> x = sample(1e-10f, 103.9f), withFma;
  for (const ProbeLevel &probe : allProbes) {
    if (!cpuHasLevel(probe.level))
      continue;
    std::vector<float> y = apply(probe.exp, x);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i)
      if (x[i] < 88.7f)
        worst = std::max(worst, ulps(y[i], std::exp(double(x[i]))));
      else
        REQUIRE((y[i] == INFINITY || x[i] < 88.73f));
    INFO(probe.level);
    CHECK(worst < 2);
    if (std::string(probe.level) != "scalar") {
      withFma = withFma.empty() ? y : withFma;
      CHECK(sameBits(y, withFma));
    }
    y = apply(probe.exp, {0, -INFINITY, INFINITY, NAN, -1e30f, 1e30f, -104});
    CHECK(y[0] == 1);
    CHECK(y[1] == 0);
    CHECK(y[2] == INFINITY);
    CHECK(std::isnan(y[3]));
    CHECK(y[4] == 0);
    CHECK(y[5] == INFINITY);
    CHECK(y[6] == 0);
  }
}

TEST_CASE("tanh is within 3 ulp and odd") {
  std::vector<float> x = sample(1e-15f, 50), withFma;
  for (const ProbeLevel &probe : allProbes) {
    if (!cpuHasLevel(probe.level))
      continue;
    std::vector<float> y = apply(probe.tanh, x);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      worst = std::max(worst, ulps(y[i], std::tanh(double(x[i]))));
      REQUIRE((i % 2 == 0 || y[i] == -y[i - 1]));
    }
    INFO(probe.level);
    CHECK(worst < 3);
    if (std::string(probe.level) != "scalar") {
      withFma = withFma.empty() ? y : withFma;
      CHECK(sameBits(y, withFma));
    }
    y = apply(probe.tanh, {0, -0.f, INFINITY, -INFINITY, NAN});
    CHECK(y[0] == 0);
    CHECK(std::signbit(y[1]));
    CHECK(y[2] == 1);
    CHECK(y[3] == -1);
    CHECK(std::isnan(y[4]));
  }
}

TEST_CASE("rope tables hold cos and sin of the rounded angle") {
  const uint32_t half = 32;
  std::vector<float> invFreq(half), factors(half);
  for (uint32_t i = 0; i < half; ++i) {
    invFreq[i] = float(std::pow(10000.0, -double(i) / half));
    factors[i] = 1 + 0.25f * float(i);
  }
  std::vector<int32_t> positions = {0, 1, 2, 3, 100, 355, 710, 4095, 103993, 1 << 20};
  for (int i = 0; i < 3000; ++i)
    positions.push_back((i * 7919 + 13) % (1 << 20));
  const uint32_t n = uint32_t(positions.size());
  auto levels = runnableLevels();
  std::vector<float> first;
  for (const NativeKernels *level : levels) {
    for (const float *f : {(const float *)nullptr, (const float *)factors.data()}) {
      std::vector<float> table(size_t(n) * half * 2);
      level->vt_rope_table(positions.data(), 0, 7, invFreq.data(), f, half, 1, table.data());
      level->vt_rope_table(positions.data(), 7, n, invFreq.data(), f, half, 1, table.data());
      double worst = 0;
      for (uint32_t t = 0; t < n; ++t)
        for (uint32_t i = 0; i < half; ++i) {
          float angle = float(positions[t]) * (f ? invFreq[i] / f[i] : invFreq[i]);
          const float *entry = &table[2 * (size_t(t) * half + i)];
          worst = std::max(worst, ulps(entry[0], std::cos(double(angle))));
          worst = std::max(worst, ulps(entry[1], std::sin(double(angle))));
        }
      INFO(level->level);
      CHECK(worst < 0.51); // in the place of the rounded value
      if (!f && first.empty())
        first = table;
      if (!f)
        CHECK(sameBits(table, first)); // scalar too
    }
  }
}

TEST_CASE("mscale multiplies the rounded cos and sin") {
  const float invFreq[] = {1, 0.1f, 0.01f};
  const int32_t position = 77;
  for (const NativeKernels *level : runnableLevels()) {
    float scaled[6], plain[6];
    level->vt_rope_table(&position, 0, 1, invFreq, nullptr, 3, 1, plain);
    level->vt_rope_table(&position, 0, 1, invFreq, nullptr, 3, 1.5f, scaled);
    for (uint32_t i = 0; i < 6; ++i)
      CHECK(scaled[i] == plain[i] * 1.5f);
  }
}
