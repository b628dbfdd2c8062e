// Ties between choices are settled, wrong choices are not.
#include "runtime/compare/Choices.h"
#include "tests/unit/Catch.h"

using namespace vetro;

namespace {

using Ids = std::vector<int32_t>;

ref::Tensor table(int64_t rows, const std::vector<float> &data) {
  ref::Tensor t({rows, int64_t(data.size()) / rows});
  t.data = data;
  return t;
}

ref::Tensor choices(int64_t rows, const Ids &ids) {
  ref::Tensor t = table(rows, std::vector<float>(ids.begin(), ids.end()));
  t.ids = ids;
  return t;
}

struct Settled {
  Ids ids;
  uint64_t ties;
  bool operator==(const Settled &) const = default;
};

/// Ours after settling, and how many ties there were.
Settled settle(const ref::Bounded &scores, const Ids &ours, const Ids &theirs) {
  int64_t rows = scores.value.dim(0);
  ref::Tensor settled = choices(rows, ours);
  uint64_t ties = settleTies(scores, choices(rows, theirs), settled);
  CHECK(Ids(settled.data.begin(), settled.data.end()) == settled.ids);
  return {settled.ids, ties};
}

} // namespace

TEST_CASE("choices between the same scores fall either way") {
  ref::Bounded scores{table(2, {.3f, .3f, .1f, .3f, /**/ .1f, .5f, .2f, .2f}), {}};
  CHECK(settle(scores, {0, 1, 1, 2}, {0, 1, 1, 2}) == Settled{{0, 1, 1, 2}, 0});
  CHECK(settle(scores, {0, 1, 1, 2}, {1, 0, 1, 3}) == Settled{{1, 0, 1, 3}, 3});
  CHECK(settle(scores, {0, 1, 1, 2}, {3, 1, 1, 2}) == Settled{{3, 1, 1, 2}, 1});
}

TEST_CASE("a choice of a lower score is no tie") {
  ref::Bounded scores{table(1, {.3f, .3f, .2999f}), {}};
  CHECK(settle(scores, {0, 1}, {0, 2}) == Settled{{0, 1}, 0});
  scores.bound = table(1, {1e-5f, 1e-5f, 1e-5f});
  CHECK(settle(scores, {0, 1}, {0, 2}) == Settled{{0, 1}, 0});
  scores.bound = table(1, {1e-3f, 1e-3f, 1e-5f});
  CHECK(settle(scores, {0, 1}, {0, 2}) == Settled{{0, 2}, 1});
}

TEST_CASE("a place that is named twice or does not exist is no choice") {
  ref::Bounded scores{table(1, {.3f, .3f, .3f}), {}};
  CHECK(settle(scores, {0, 1}, {1, 1}) == Settled{{0, 1}, 0});
  CHECK(settle(scores, {0, 1}, {0, 3}) == Settled{{0, 1}, 0});
  CHECK(settle(scores, {0, 1}, {-1, 0}) == Settled{{0, 1}, 0});
}
