// How likely a long text is: the fast path, the interpreter and its sliding window against PyTorch.
#include "tests/unit/engine/EngineTest.h"

#include <cmath>
#include <numeric>

using namespace vetro;
using namespace vetro::test;

namespace {
using Values = std::vector<double>;

/// -ln p(ids[i + 1]) after each token i >= first, in nats, sums in F64.
Values surprises(Evaluator &e, llvm::ArrayRef<int32_t> ids, size_t first) {
  std::vector<BatchToken> batch;
  for (size_t i = 0; i + 1 < ids.size(); ++i)
    batch.push_back({ids[i], 0, i >= first});
  Values values;
  must(e.decode(batch, [&](size_t i, llvm::ArrayRef<float> logits) {
    double max = *std::max_element(logits.begin(), logits.end()), sum = 0;
    for (float l : logits)
      sum += std::exp(l - max);
    values.push_back(max + std::log(sum) - logits[ids[i + 1]]);
  }));
  return values;
}

double mean(const Values &x) { return std::accumulate(x.begin(), x.end(), 0.0) / x.size(); }

/// Calls f for each real model with its path, the ids of its long text and PyTorch's values.
void forEachText(llvm::function_ref<void(const std::string &path, const std::vector<int32_t> &ids,
                                         const Values &theirs)>
                     f) {
  for (const RealModel &m : realModels) {
    std::string path = realModel(m);
    if (path.empty())
      continue;
    nlohmann::json g = golden(m, "nll");
    f(path, g["ids"], g["nll"]);
  }
}

/// Root of the mean squared difference of a and the values of b from `first` on.
double distance(const Values &a, const Values &b, size_t first) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += (a[i] - b[first + i]) * (a[i] - b[first + i]);
  return std::sqrt(sum / a.size());
}

} // namespace

// The windows first differ at position 511, the last that one of 512 holds whole.
TEST_CASE("the likelihoods of Gemma's text show a window of 512, not 511 or 513") {
  const RealModel &m = realModels[1];
  std::string path = realModel(m);
  if (path.empty())
    return;
  constexpr size_t first = 511, nTokens = 544;
  nlohmann::json g = golden(m, "nll");
  std::vector<int32_t> ids = g["ids"];
  ids.resize(nTokens);
  Values ours = surprises(*reference(path), ids, first);
  REQUIRE(ours.size() == nTokens - 1 - first);
  double right = distance(ours, g["nll"], first);
  double shorter = distance(ours, g["nll_window_511"], first);
  double longer = distance(ours, g["nll_window_513"], first);
  WARN("rms distance in nats from windows 512, 511, 513: " << right << ", " << shorter << ", "
                                                           << longer);
  // Sums of F32 in another order: 8e-5 is the most that a logit of PyTorch's is from F64.
  CHECK(right < 1e-4);
  CHECK(shorter > 20 * right);
  CHECK(longer > 20 * right);
}

TEST_CASE("mean likelihood of a long text is PyTorch's within 0.2 %") {
  forEachText([](const std::string &path, const std::vector<int32_t> &ids, const Values &theirs) {
    SessionOptions o;
    o.nOutputs = 64;
    Values ours = surprises(*open(load(path, "f16", 2), o), ids, 0);
    REQUIRE(ours.size() >= 750);
    REQUIRE(ours.size() == theirs.size());
    INFO(path << " ours " << mean(ours) << " PyTorch " << mean(theirs));
    CHECK(std::fabs(mean(ours) - mean(theirs)) <= 0.002 * mean(theirs));
  });
}

TEST_CASE("each likelihood of a long text is PyTorch's by the interpreter", "[.full]") {
  forEachText([](const std::string &path, const std::vector<int32_t> &ids, const Values &theirs) {
    Values ours = surprises(*reference(path), ids, 0);
    REQUIRE(ours.size() == theirs.size());
    double worst = 0;
    for (size_t i = 0; i < ours.size(); ++i)
      worst = std::max(worst, std::fabs(ours[i] - theirs[i]));
    WARN(path << " ours " << mean(ours) << " PyTorch " << mean(theirs) << " worst " << worst);
    CHECK(worst < 5e-4); // both sum F32, in different orders
    CHECK(std::fabs(mean(ours) - mean(theirs)) <= 1e-5 * mean(theirs));
  });
}
