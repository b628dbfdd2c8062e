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

/// PyTorch's greedy text of the golden prompts.
struct GoldenText {
  std::string name;
  std::vector<int32_t> prompt, ids;
  std::vector<double> margins;
};
std::vector<GoldenText> goldenTexts(const RealModel &m) {
  nlohmann::json file = golden(m, "greedy");
  std::vector<GoldenText> texts;
  for (const auto &p : file["prompts"])
    texts.push_back({p["name"], p["prompt_ids"], p["ids"], p["margins"]});
  REQUIRE(texts.size() >= 12);
  return texts;
}

/// Greedy text of the interpreter against PyTorch's: equal but where PyTorch's margin is < 0.001.
/// Of the prompts only those of at most `longest` tokens.
void checkReference(const RealModel &m, size_t longest, size_t nTokens) {
  std::string path = realModel(m);
  if (path.empty())
    return;
  std::vector<GoldenText> texts = goldenTexts(m);
  llvm::erase_if(texts, [&](const GoldenText &t) { return t.prompt.size() > longest; });
  std::vector<std::vector<int32_t>> prompts;
  for (const GoldenText &t : texts)
    prompts.push_back(t.prompt);
  auto r = reference(path, "f32", {.nCtx = 256, .nSequences = uint32_t(prompts.size())});
  std::vector<GreedyRun> runs = greedySideBySide(*r, prompts, nTokens);
  for (size_t i = 0; i < texts.size(); ++i) {
    texts[i].ids.resize(nTokens);
    size_t at = firstDifference(runs[i].ids, texts[i].ids);
    INFO(m.golden << " " << texts[i].name << " step " << at);
    CHECK((at == nTokens || texts[i].margins[at] < 0.001));
  }
}
} // namespace

TEST_CASE("the interpreter gives PyTorch's greedy tokens") {
  for (const RealModel &m : realModels)
    checkReference(m, 24, 8);
}

TEST_CASE("the interpreter gives PyTorch's greedy tokens on all prompts", "[.full]") {
  for (const RealModel &m : realModels)
    checkReference(m, 256, 32);
}

TEST_CASE("free greedy text of the fast path leaves PyTorch's only at a small margin") {
  for (const RealModel &m : realModels) {
    std::string path = realModel(m);
    if (path.empty())
      continue;
    auto model = load(path, "f16", 2);
    auto s = open(model);
    for (const GoldenText &text : goldenTexts(m)) {
      s->truncate(0, 0);
      Generation g = greedy(*s, model->tokenizer(), text.prompt, text.ids.size());
      size_t at = firstDifference(g.ids, text.ids);
      INFO(m.golden << " " << text.name << " step " << at);
      CHECK((at == text.ids.size() || text.margins[at] < 0.35));
    }
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
