// The interpreter against PyTorch, the fast path against both.
#include "tests/unit/engine/EngineTest.h"

#include <cmath>
#include <fstream>

using namespace vetro;
using namespace vetro::test;

namespace {
Generation greedy(Evaluator &e, const Tokenizer &t, const std::vector<int32_t> &prompt, size_t n) {
  GenerateOptions o;
  o.nPredict = n;
  o.ignoreEos = true;
  return must(generate(e, t, prompt, o, [](llvm::StringRef) {}));
}

/// The first step at which the ids differ; their number if they do not.
size_t firstDifference(const std::vector<int32_t> &a, const std::vector<int32_t> &b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

/// Greedy text of the interpreter against PyTorch's: equal but where PyTorch's margin is < 0.001.
void checkReference(const RealModel &m, size_t firstPrompts, size_t nTokens) {
  std::string path = realModel(m);
  if (path.empty())
    return;
  const Tokenizer *tokenizer = nullptr;
  auto r = reference(path, tokenizer);
  size_t done = 0;
  nlohmann::json file = golden(m, "greedy");
  REQUIRE(file["prompts"].size() >= 12);
  for (const auto &p : file["prompts"]) {
    if (done++ == firstPrompts)
      break;
    std::vector<int32_t> ids = p["ids"];
    ids.resize(std::min(ids.size(), nTokens));
    r->truncate(0, 0);
    Generation g = greedy(*r, *tokenizer, p["prompt_ids"], ids.size());
    size_t at = firstDifference(g.ids, ids);
    INFO(m.golden << " " << p["name"] << " step " << at);
    CHECK((at == ids.size() || double(p["margins"][at]) < 0.001));
  }
}
} // namespace

TEST_CASE("the interpreter gives PyTorch's greedy tokens") {
  for (const RealModel &m : realModels)
    checkReference(m, 2, 10);
}

TEST_CASE("the interpreter gives PyTorch's greedy tokens on all prompts", "[.full]") {
  for (const RealModel &m : realModels)
    checkReference(m, 100, 32);
}

TEST_CASE("free greedy text of the fast path leaves PyTorch's only at a small margin") {
  for (const RealModel &m : realModels) {
    std::string path = realModel(m);
    if (path.empty())
      continue;
    auto model = load(path, "f16", 2);
    auto s = open(model);
    nlohmann::json file = golden(m, "greedy");
    REQUIRE(file["prompts"].size() >= 12);
    for (const auto &p : file["prompts"]) {
      std::vector<int32_t> ids = p["ids"];
      s->truncate(0, 0);
      Generation g = greedy(*s, model->tokenizer(), p["prompt_ids"], ids.size());
      size_t at = firstDifference(g.ids, ids);
      INFO(m.golden << " " << p["name"] << " step " << at);
      CHECK((at == ids.size() || double(p["margins"][at]) < 0.35));
    }
  }
}

TEST_CASE("mean likelihood of a long text is PyTorch's within 0.2 %") {
  for (const RealModel &m : realModels) {
    std::string path = realModel(m);
    if (path.empty())
      continue;
    auto g = golden(m, "nll");
    std::vector<int32_t> ids = g["ids"];
    std::vector<double> theirs = g["nll"];
    auto model = load(path, "f16", 2);
    SessionOptions o;
    o.nOutputs = 64;
    auto s = open(model, o);
    std::vector<BatchToken> batch;
    for (int32_t id : ids)
      batch.push_back({id, 0, true});
    double ours = 0, reference = 0;
    must(s->decode(batch, [&](size_t i, llvm::ArrayRef<float> logits) {
      if (i + 1 == ids.size())
        return;
      double max = *std::max_element(logits.begin(), logits.end()), sum = 0;
      for (float l : logits)
        sum += std::exp(l - max);
      ours += max + std::log(sum) - logits[ids[i + 1]];
      reference += theirs[i];
    }));
    INFO(m.golden << " ours " << ours << " PyTorch " << reference);
    CHECK(std::fabs(ours - reference) <= 0.002 * reference);
  }
}

TEST_CASE("exact weights: the F32 model's logits are the float64 ones within 1e-4") {
  std::string path = storiesModel();
  if (path.empty())
    return;
  std::ifstream file(dataDir() + "/stories260k/expected.json");
  auto expected = nlohmann::json::parse(file);
  auto model = load(path, "f32");
  auto s = open(model);
  for (const auto &run : expected["runs"]) {
    std::vector<int32_t> prompt = run["prompt_ids"], ids = run["greedy_ids"];
    std::vector<float> logits = run["last_position"]["logits"];
    s->truncate(0, 0);
    std::vector<float> ours = lastLogits(*s, prompt);
    REQUIRE(ours.size() == logits.size());
    for (size_t i = 0; i < ours.size(); ++i)
      CHECK(std::fabs(ours[i] - logits[i]) <= 1e-4);
    s->truncate(0, 0);
    CHECK(greedy(*s, model->tokenizer(), prompt, ids.size()).ids == ids);
  }
}
