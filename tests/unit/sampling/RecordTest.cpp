// The funnel: what each stage is said to have removed.
#include "runtime/sampling/Chain.h"
#include "tests/unit/Catch.h"
#include <cmath>

using namespace vetro;

static float ln(double x) { return float(std::log(x)); }

namespace {
/// Ban of token 0, top-k 4, min-p 0.4 over 0.4, 0.3, 0.15, 0.1, 0.05 of 1 (tokens 1 to 5).
struct Recorded {
  SampleRecord record{6, 3};
  int32_t token;
  Recorded() {
    SamplingOptions o;
    o.temperature = 1;
    o.topK = 4;
    o.minP = 0.4f;
    o.logitBias = {{0, -INFINITY}};
    Chain chain = llvm::cantFail(Chain::create(o, 6));
    token =
        llvm::cantFail(chain.sample({0, ln(0.4), ln(0.3), ln(0.15), ln(0.1), ln(0.05)}, &record));
  }
};
} // namespace

TEST_CASE("the record shows each stage") {
  Recorded run;
  auto stages = run.record.stages();
  REQUIRE(stages.size() == 8);
  const char *names[] = {"logits", "logit-bias", "penalties", "top-k",
                         "top-p",  "min-p",      "temp",      "dist"};
  bool active[] = {true, true, false, true, false, true, false, true};
  uint32_t out[] = {6, 6, 6, 4, 4, 2, 2, 1};
  for (size_t i = 0; i < 8; ++i) {
    CHECK(std::string(stages[i].name) == names[i]);
    CHECK(stages[i].active == active[i]);
    CHECK(stages[i].in == (i ? out[i - 1] : 6));
    CHECK(stages[i].out == out[i]);
  }
}

TEST_CASE("the record shows probabilities, what was cut and how uncertain the rest is") {
  Recorded run;
  auto stages = run.record.stages();
  CHECK(stages[0].top[0].id == 0);
  CHECK(stages[0].top[0].p == Approx(0.5)); // e^0 of 1 + 1
  CHECK(stages[1].top[0].id == 1);
  CHECK(stages[1].top[0].p == Approx(0.4));
  CHECK(stages[3].massRemoved == Approx(0.05)); // token 5; the banned one weighs nothing
  CHECK(stages[5].massRemoved == Approx(0.25 / 0.95));
  CHECK(stages[5].top.size() == 2);
  CHECK(stages[5].top[1].p == Approx(3 / 7.0));
  double h = -(4 / 7.0) * std::log2(4 / 7.0) - (3 / 7.0) * std::log2(3 / 7.0);
  CHECK(stages[6].entropyBits == Approx(h));
}

TEST_CASE("the record names the stage that removed a token") {
  Recorded run;
  const SampleRecord &record = run.record;
  CHECK(record.stages()[7].top.size() == 1);
  CHECK(record.stages()[7].top[0].id == run.token);
  CHECK(record.cutBy(5) == 3);
  CHECK(record.cutBy(0) == 3);
  CHECK(record.cutBy(3) == 5);
  CHECK(record.cutBy(4) == 5);
  CHECK(record.cutBy(run.token) == SampleRecord::survived);
  CHECK(record.cutBy(3 - run.token) == 7);
  CHECK(record.draw() >= 0);
  CHECK(record.draw() < 1);
}

TEST_CASE("recording changes no token") {
  for (float temperature : {0.f, 0.7f}) {
    SamplingOptions o;
    o.temperature = temperature;
    o.topK = 20;
    o.topP = 0.8f;
    o.frequencyPenalty = 0.1f;
    Chain plain = llvm::cantFail(Chain::create(o, 300)), recorded = plain;
    SampleRecord record(300, 5);
    Rng rng = Rng::seeded(3);
    std::vector<float> logits(300);
    for (int step = 0; step < 50; ++step) {
      for (float &l : logits)
        l = float(rng.uniform() * 8);
      int32_t token = llvm::cantFail(plain.sample(logits));
      REQUIRE(llvm::cantFail(recorded.sample(logits, &record)) == token);
      plain.accept(token);
      recorded.accept(token);
    }
  }
}
