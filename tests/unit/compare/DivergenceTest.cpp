// Divergences of distributions whose figures are worked out by hand.
#include "runtime/compare/Divergence.h"
#include "runtime/compare/Metrics.h"
#include "tests/unit/Catch.h"
#include <cmath>

using namespace vetro;

namespace {
using Floats = std::vector<float>;

Floats logs(const Floats &probabilities) {
  Floats out;
  for (float p : probabilities)
    out.push_back(std::log(p));
  return out;
}
} // namespace

TEST_CASE("mean and error of a sample") {
  Moments none, m;
  for (double x : {1.0, 2.0, 3.0, 6.0})
    m.add(x);
  CHECK(none.mean() == 0);
  CHECK(none.error() == 0);
  CHECK(m.mean() == 3);
  CHECK(m.error() == Approx(std::sqrt(14.0 / 3 / 4))); // (4 + 1 + 0 + 9) / 3
  Moments far;
  for (double x : {1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 6})
    far.add(x);
  CHECK(far.error() == Approx(m.error())); // E[x^2] - E[x]^2 would have lost it
}

TEST_CASE("the divergence of two distributions") {
  // Logits are known up to a constant.
  Floats ours = {std::log(1.0f) + 5, std::log(2.0f) + 5, std::log(1.0f) + 5};
  PositionDivergence d = divergence(ours, logs({0.5f, 0.25f, 0.25f}), 1);
  CHECK(d.kl == Approx(0.25 * std::log(2.0))); // 1/2 ln 2 - 1/4 ln 2
  CHECK(d.nll == Approx(std::log(2.0)));
  CHECK(d.nllBase == Approx(std::log(4.0)));
  CHECK(d.deltaP == Approx(0.25));
  CHECK_FALSE(d.sameTop);
  PositionDivergence same = divergence(ours, logs({0.25f, 0.5f, 0.25f}), 0);
  CHECK(same.kl == Approx(0).margin(1e-7));
  CHECK(same.deltaP == Approx(0).margin(1e-7));
  CHECK(same.sameTop);
}

TEST_CASE("what the saved file does not tell has no part in the divergence") {
  // Of the third token a file keeps no more than that it is below e^-16.
  Floats ours = {0, 0, 3}, base = {std::log(0.5f), std::log(0.5f), -16.69f};
  double sum = std::log(2 + std::exp(3.0));
  CHECK(divergence(ours, base, 0).kl == Approx(sum - std::log(2.0)));
}

TEST_CASE("a tie for the likeliest token goes to the lower id on both sides") {
  CHECK(divergence(Floats{1, 1, 0}, logs({0.4f, 0.4f, 0.2f}), 0).sameTop);
  CHECK_FALSE(divergence(Floats{0, 1, 1}, logs({0.4f, 0.4f, 0.2f}), 0).sameTop);
}

TEST_CASE("statistics of positions") {
  DivergenceStatistics s;
  for (int i = 5; i >= 1; --i)
    s.add({.kl = double(i),
           .nll = 2,
           .nllBase = 1.0 + (i == 5),
           .deltaP = i % 2 ? 0.1 : -0.1,
           .sameTop = i != 2});
  CHECK(s.count() == 5);
  CHECK(s.kl().value == Approx(3));
  CHECK(s.kl().error == Approx(std::sqrt(10.0 / 4 / 5)));
  CHECK(s.klAt({0, 0.5, 0.9, 1}) == std::vector<double>{1, 3, 4.6, 5});
  CHECK(s.deltaPAt({0, 1}) == std::vector<double>{-0.1, 0.1});
  CHECK(s.nllBase().value == Approx(1.2));
  CHECK(s.nllDifference().value == Approx(0.8));
  CHECK(s.nllDifference().error == Approx(std::sqrt((4 * 0.04 + 0.64) / 4 / 5)));
  CHECK(s.deltaP().value == Approx(0.02));
  CHECK(s.rmsDeltaP().value == Approx(0.1));
  CHECK(s.rmsDeltaP().error == Approx(0).margin(1e-9));
  CHECK(s.sameTop().value == Approx(0.8));
  CHECK(s.sameTop().error == Approx(std::sqrt(0.8 * 0.2 / 4)));
  CHECK(DivergenceStatistics().sameTop().value == 0);
  CHECK(DivergenceStatistics().klAt({0.5}) == std::vector<double>{0});
}

TEST_CASE("the softmax's logarithm does not overflow") {
  CHECK(logSumExp(Floats{1000, 1000}) == Approx(1000 + std::log(2.0)));
  CHECK(logSumExp(Floats{-1000, -INFINITY}) == Approx(-1000));
}
