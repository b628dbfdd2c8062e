// Sampler chain against distributions worked out by hand.
#include "runtime/sampling/Chain.h"
#include "tests/unit/Catch.h"
#include "tests/unit/CountAllocations.h"
#include "tests/unit/TestData.h"
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

using namespace vetro;
using test::allocationCount;

static Chain makeChain(const SamplingOptions &options, size_t nVocab) {
  return llvm::cantFail(Chain::create(options, nVocab));
}
static int32_t sampleOne(Chain &chain, llvm::ArrayRef<float> logits) {
  return llvm::cantFail(chain.sample(logits));
}
static float ln(double x) { return float(std::log(x)); }

/// Share of each token in n draws.
static std::map<int32_t, double> shares(Chain chain, llvm::ArrayRef<float> logits, int n = 20000) {
  std::map<int32_t, double> share;
  for (int i = 0; i < n; ++i)
    share[sampleOne(chain, logits)] += 1.0 / n;
  return share;
}
// Three standard deviations of a share of n = 20000 draws are at most 0.0106.
static bool near(double share, double p) { return std::abs(share - p) < 0.0115; }

TEST_CASE("random numbers are the published ones") {
  uint64_t x = 1234567; // SplitMix64, as in Rosetta Code's page on it
  for (uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                            4593380528125082431u, 16408922859458223821u})
    CHECK(Rng::splitMix64(x) == expected);
  Rng rng{{1, 2, 3, 4}}; // xoshiro256**, as in the tests of Rust's rand_xoshiro
  for (uint64_t expected : {11520u, 0u, 1509978240u})
    CHECK(rng.next() == expected);
  CHECK(rng.next() == 1215971899390074240u);
  CHECK(Rng{{0, ~0ull, 0, 0}}.uniform() < 1);
}

TEST_CASE("greedy takes the highest logit, ties go to the lower id") {
  Chain chain = makeChain({}, 40);
  std::vector<float> logits(40, -1);
  CHECK(sampleOne(chain, logits) == 0);
  logits[39] = 2;
  CHECK(sampleOne(chain, logits) == 39);
  logits[17] = 2;
  CHECK(sampleOne(chain, logits) == 17);
  logits[3] = 2;
  CHECK(sampleOne(chain, logits) == 3);
  // The same through the candidate list, with stages on.
  SamplingOptions o;
  o.logitBias = {{5, -1.f}};
  o.topK = 2;
  Chain listed = makeChain(o, 40);
  CHECK(sampleOne(listed, logits) == 3);
}

TEST_CASE("temperature and dist give the distribution") {
  std::vector<float> logits = {ln(0.5), ln(0.3), ln(0.2), -1000};
  SamplingOptions o;
  o.temperature = 1;
  auto share = shares(makeChain(o, 4), logits);
  CHECK(near(share[0], 0.5));
  CHECK(near(share[1], 0.3));
  CHECK(near(share[2], 0.2));
  CHECK(share[3] == 0);
  o.temperature = 0.5; // p^2: 25, 9, 4 of 38
  share = shares(makeChain(o, 4), logits);
  CHECK(near(share[0], 25 / 38.0));
  CHECK(near(share[1], 9 / 38.0));
  o.temperature = 1e-30f; // nearly greedy, and no overflow
  share = shares(makeChain(o, 4), logits, 100);
  CHECK(share[0] == Approx(1));
}

TEST_CASE("top-k keeps the k best, ties by id") {
  SamplingOptions o;
  o.temperature = 1;
  o.topK = 2;
  auto share = shares(makeChain(o, 4), {ln(0.1), ln(0.2), ln(0.4), ln(0.3)});
  CHECK(share.size() == 2);
  CHECK(near(share[2], 4 / 7.0));
  CHECK(near(share[3], 3 / 7.0));
  share = shares(makeChain(o, 4), {1, 1, 1, 1});
  CHECK(near(share[0], 0.5));
  CHECK(near(share[1], 0.5));
  o.topK = 100;
  CHECK(shares(makeChain(o, 4), {1, 1, 1, 1}).size() == 4);
}

TEST_CASE("top-p keeps the shortest prefix that reaches p") {
  std::vector<float> logits = {ln(0.05), ln(0.5), ln(0.15), ln(0.3)};
  SamplingOptions o;
  o.temperature = 1;
  o.topP = 0.7f; // 0.5 < 0.7 <= 0.8
  auto share = shares(makeChain(o, 4), logits);
  CHECK(share.size() == 2);
  CHECK(near(share[1], 5 / 8.0));
  CHECK(near(share[3], 3 / 8.0));
  o.topP = 0;
  CHECK(shares(makeChain(o, 4), logits, 100).size() == 1);
  o.topP = 0.9f; // 0.95 reaches it
  CHECK(shares(makeChain(o, 4), logits).size() == 3);
}

TEST_CASE("top-p over a flat vocabulary reaches past the first sorted prefix") {
  std::vector<float> logits(1000, 0.f);
  Candidates c(1000);
  c.fill(logits);
  TopP{0.5f}.apply(c);
  REQUIRE(c.size() == 500);
  for (size_t i = 0; i < c.size(); ++i)
    CHECK(c[i].id == int32_t(i));
}

TEST_CASE("min-p keeps what is likely enough beside the best") {
  std::vector<float> logits = {ln(0.05), ln(0.5), ln(0.15), ln(0.3)};
  SamplingOptions o;
  o.temperature = 1;
  o.minP = 0.29f; // 0.15 / 0.5 = 0.3 stays, 0.1 goes
  auto share = shares(makeChain(o, 4), logits);
  CHECK(share.size() == 3);
  CHECK(near(share[2], 0.15 / 0.95));
  o.minP = 1;
  CHECK(shares(makeChain(o, 4), logits, 100).size() == 1);
}

TEST_CASE("logit bias shifts and bans") {
  std::vector<float> logits = {ln(0.5), ln(0.3), ln(0.2)};
  SamplingOptions o;
  o.temperature = 1;
  o.logitBias = {{2, ln(2)}, {0, -INFINITY}}; // 0, 0.3, 0.4
  auto share = shares(makeChain(o, 3), logits);
  CHECK(share.count(0) == 0);
  CHECK(near(share[1], 3 / 7.0));
  CHECK(near(share[2], 4 / 7.0));
}

TEST_CASE("penalties follow the formula and the window") {
  std::vector<float> logits = {2, 2, -1, 0};
  Candidates c(4);
  c.fill(logits);
  History history(4);
  for (int32_t token : {3, 0, 0, 2, 2}) // the window of 4 has forgotten the 3
    history.accept(token);
  std::vector<int32_t> scratch(4);
  Penalties{.lastN = 4, .repeat = 2, .frequency = 0.25f, .presence = 0.5f}.apply(c, history,
                                                                                 scratch);
  CHECK(c[0].logit == 2 / 2.f - 2 * 0.25f - 0.5f);
  CHECK(c[1].logit == 2);
  CHECK(c[2].logit == -1 * 2.f - 2 * 0.25f - 0.5f);
  CHECK(c[3].logit == 0);

  SamplingOptions o;
  o.repeatPenalty = 4;
  o.penaltyLastN = 2;
  Chain chain = makeChain(o, 4); // greedy with penalties: 0, 1 in turn
  CHECK(sampleOne(chain, logits) == 0);
  chain.accept(0);
  CHECK(sampleOne(chain, logits) == 1);
  chain.accept(3);
  chain.accept(3);
  CHECK(sampleOne(chain, logits) == 0);
}

TEST_CASE("sorted prefixes are those of a full sort") {
  Rng rng = Rng::seeded(7);
  std::vector<float> logits(777);
  for (float &l : logits)
    l = float(rng.next() % 64); // many ties
  Candidates whole(777), parts(777);
  whole.fill(logits);
  parts.fill(logits);
  whole.sortPrefix(777);
  for (size_t n : {1, 5, 5, 100, 99, 600, 2000}) {
    parts.sortPrefix(n);
    for (size_t i = 0; i < std::min<size_t>(n, 777); ++i)
      REQUIRE(parts[i].id == whole[i].id);
  }
  CHECK(parts.sortedPrefix() == 777);
}

TEST_CASE("seeds repeat, states return, copies are independent") {
  std::vector<float> logits(50, 0.f);
  SamplingOptions o;
  o.temperature = 1;
  o.seed = 42;
  o.presencePenalty = 1;
  auto draw = [&](Chain &chain) {
    std::vector<int32_t> ids;
    for (int i = 0; i < 20; ++i) {
      ids.push_back(sampleOne(chain, logits));
      chain.accept(ids.back());
    }
    return ids;
  };
  Chain a = makeChain(o, 50), b = makeChain(o, 50);
  SamplingState start = a.state();
  auto first = draw(a);
  CHECK(draw(b) == first);
  auto second = draw(a);
  CHECK(second != first);
  Chain copy = b;
  CHECK(draw(copy) == second);
  CHECK(draw(b) == second);
  a.restore(start);
  CHECK(draw(a) == first);
  a.reset();
  CHECK(draw(a) == first);
  o.seed = 43;
  Chain other = makeChain(o, 50);
  CHECK(draw(other) != first);
}

TEST_CASE("the chain describes itself") {
  CHECK(makeChain({}, 4).describe() ==
        "logits -> ?logit-bias -> ?penalties -> ?top-k -> ?top-p -> ?min-p -> ?temp -> greedy");
  SamplingOptions o;
  o.temperature = 0.7f;
  o.topK = 40;
  o.repeatPenalty = 1.1f;
  CHECK(makeChain(o, 4).describe() ==
        "logits -> ?logit-bias -> penalties -> top-k -> ?top-p -> ?min-p -> temp -> dist");
  o.temperature = 1;
  CHECK(makeChain(o, 4).describe() ==
        "logits -> ?logit-bias -> penalties -> top-k -> ?top-p -> ?min-p -> ?temp -> dist");
}

static std::string errorOf(llvm::Expected<int32_t> result) {
  return result ? "" : llvm::toString(result.takeError());
}

TEST_CASE("logits that are not finite are errors") {
  SamplingOptions random;
  random.temperature = 1;
  random.topK = 3;
  random.topP = 0.9f;
  for (const SamplingOptions &o : {SamplingOptions{}, random}) {
    Chain chain = makeChain(o, 20);
    for (float bad : {NAN, INFINITY, -INFINITY}) {
      std::vector<float> logits(20, 0.f);
      logits[18] = bad;
      CHECK(errorOf(chain.sample(logits)).find("logits: token 18 has ") == 0);
    }
    std::vector<float> extreme(20, std::numeric_limits<float>::lowest());
    extreme[4] = std::numeric_limits<float>::max();
    CHECK(sampleOne(chain, extreme) == 4);
  }
  SamplingOptions banned;
  banned.logitBias = {{0, -INFINITY}, {1, -INFINITY}};
  Chain chain = makeChain(banned, 2);
  CHECK(errorOf(chain.sample({1, 2})).find("ban fewer tokens") != std::string::npos);
}

TEST_CASE("options outside their range are errors that name them") {
  auto message = [](auto set, size_t nVocab = 8) {
    SamplingOptions o;
    set(o);
    auto chain = Chain::create(o, nVocab);
    return chain ? std::string() : llvm::toString(chain.takeError());
  };
  CHECK(message([](auto &o) { o.topP = 1.5f; }) ==
        "top-p: found 1.5, expected a number from 0 to 1");
  CHECK(message([](auto &o) { o.minP = -1; }).find("min-p") == 0);
  CHECK(message([](auto &o) { o.temperature = NAN; }).find("temp") == 0);
  CHECK(message([](auto &o) { o.temperature = -1; }).find("temp") == 0);
  CHECK(message([](auto &o) { o.repeatPenalty = 0; }).find("repeat-penalty") == 0);
  CHECK(message([](auto &o) { o.frequencyPenalty = INFINITY; }).find("frequency-penalty") == 0);
  CHECK(message([](auto &o) { o.presencePenalty = NAN; }).find("presence-penalty") == 0);
  CHECK(message([](auto &o) { o.penaltyLastN = 1u << 30; }).find("repeat-last-n") == 0);
  CHECK(message([](auto &o) { o.logitBias = {{8, 1.f}}; }).find("found token 8") !=
        std::string::npos);
  CHECK(message([](auto &o) { o.logitBias = {{1, INFINITY}}; }).find("token 1") !=
        std::string::npos);
  CHECK(message([](auto &) {}, 0).find("vocabulary is empty") != std::string::npos);
  CHECK(message([](auto &) {}).empty());
}

TEST_CASE("sampling does not allocate") {
  if (!test::countsAllocations)
    return test::skip("allocations cannot be counted under the thread sanitizer");
  std::vector<float> logits(5000);
  Rng rng = Rng::seeded(1);
  for (float &l : logits)
    l = float(rng.uniform() * 10);
  SamplingOptions o;
  o.temperature = 0.8f;
  o.topK = 900;
  o.topP = 0.9f;
  o.minP = 0.01f;
  o.repeatPenalty = 1.1f;
  o.logitBias = {{3, 1.f}};
  Chain chain = makeChain(o, 5000), greedy = makeChain({}, 5000);
  SampleRecord record(5000, 10);
  size_t before = allocationCount();
  for (int i = 0; i < 5; ++i) {
    chain.accept(sampleOne(chain, logits));
    greedy.accept(sampleOne(greedy, logits));
    greedy.accept(llvm::cantFail(chain.sample(logits, &record)));
  }
  CHECK(allocationCount() == before);
  CHECK(before > 0); // the counter counts
}

// Not a check (the machine may be busy): prints microseconds per token.
// Run with: unit_sampling "[.speed]"
TEST_CASE("cost of sampling", "[.speed]") {
  std::vector<float> logits(49152);
  Rng rng = Rng::seeded(1);
  for (float &l : logits)
    l = float(rng.uniform() * 20);
  SamplingOptions cut, plain, nucleus;
  cut.temperature = plain.temperature = nucleus.temperature = 0.8f;
  cut.topK = 40;
  cut.topP = nucleus.topP = 0.95f;
  cut.minP = 0.05f;
  for (const SamplingOptions &o : {SamplingOptions{}, cut, plain, nucleus}) {
    Chain chain = makeChain(o, logits.size());
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i)
      sampleOne(chain, logits);
    std::chrono::duration<double, std::micro> us = std::chrono::steady_clock::now() - start;
    std::printf("%8.1f us  %s\n", us.count() / 100, chain.describe().c_str());
    CHECK(us.count() > 0);
  }
}
