// Each figure against numbers worked out by hand.
#include "runtime/compare/Metrics.h"
#include "tests/unit/Catch.h"
#include <cmath>

using namespace vetro;

static constexpr float inf = INFINITY, none = NAN;
using Floats = std::vector<float>;

TEST_CASE("equal values differ by nothing") {
  std::vector<float> x = {1, -2, 0, 4};
  Difference d = difference({2, 2}, x, x);
  CHECK(d.equal());
  CHECK(d.nmse == 0);
  CHECK(std::isinf(d.snrDb()));
  CHECK(d.worstRow == -1);
  CHECK(d.cosine == Approx(1));
}

TEST_CASE("error is over the mean square of the reference") {
  std::vector<float> ours = {3, 0, 0, 5}, theirs = {3, 0, 0, 4};
  Difference d = difference({2, 2}, ours, theirs);
  CHECK(d.nmse == Approx(1.0 / 25)); // not over the variance, 16.25 - 4.6
  CHECK(d.snrDb() == Approx(10 * std::log10(25.0)));
  CHECK(d.maxAbs == 1);
  CHECK(placeOf({2, 2}, d.maxAt) == std::vector<int64_t>{1, 1});
  CHECK(d.ours == 5);
  CHECK(d.theirs == 4);
  CHECK(d.worstRow == 1);
  CHECK(d.rowNmse == Approx(1.0 / 16));
}

TEST_CASE("a constant factor shows in the error, not in the cosine") {
  std::vector<float> theirs = {1, 2, 3}, ours = {2, 4, 6};
  Difference d = difference({3}, ours, theirs);
  CHECK(d.cosine == Approx(1));
  CHECK(d.nmse == Approx(1));
}

TEST_CASE("the worst head of [T, H, d]") {
  std::vector<float> theirs(2 * 3 * 4, 1), ours = theirs;
  ours[1 * 12 + 2 * 4 + 3] = 2; // token 1, head 2
  Difference d = difference({2, 3, 4}, ours, theirs);
  CHECK(d.worstHead == 2);
  CHECK(d.headNmse == Approx(1.0 / 8));
  CHECK(d.worstRow == 1);
  CHECK(placeOf({2, 3, 4}, d.maxAt) == std::vector<int64_t>{1, 2, 3});
}

TEST_CASE("0.999 of the differences") {
  std::vector<float> theirs(1000, 1), ours = theirs;
  ours[7] = 11;
  CHECK(difference({1000}, ours, theirs).q999 == 10); // 1 of 1000 lies beyond nothing
  theirs.resize(2000, 1), ours.resize(2000, 1);
  CHECK(difference({2000}, ours, theirs).q999 == 0);
}

TEST_CASE("what is no number is counted, and equal only to itself") {
  CHECK(difference({3}, Floats{none, inf, -inf}, Floats{none, inf, -inf}).equal());
  Difference d = difference({3}, Floats{none, 1, 2}, Floats{1, 1, 2});
  CHECK(d.nonFinite == 1);
  CHECK_FALSE(d.equal());
  CHECK(std::isinf(d.maxAbs));
  CHECK(std::isinf(difference({1}, Floats{inf}, Floats{-inf}).maxAbs));
  CHECK(std::isinf(difference({1}, Floats{1}, Floats{0}).nmse)); // something beside nothing
}

TEST_CASE("logits as a user sees them") {
  // Two rows of three: the first choice agrees in one.
  std::vector<float> theirs = {0, 1, 2, 5, 0, 0}, ours = {0, 1, 2, 0, 5, 0};
  LogitDifference d = logitDifference(2, ours, theirs);
  CHECK(d.top1 == Approx(0.5));
  CHECK(d.top10 == Approx(1)); // there are but three
  CHECK(d.worstRank == 1);
  double z = std::exp(5.0) + 2, kl = std::exp(5.0) / z * 5 - 1 / z * 5;
  CHECK(d.maxKl == Approx(kl));
  CHECK(d.meanKl == Approx(kl / 2));
}
