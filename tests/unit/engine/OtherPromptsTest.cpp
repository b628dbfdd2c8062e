// Prompts that nobody chose: the fast path against the interpreter on ids and texts made by seeds.
#include "tests/unit/engine/EngineTest.h"

#include "llvm/Support/ConvertUTF.h"
#include <random>

using namespace vetro;
using namespace vetro::test;

namespace {
/// Text of n pieces, each a character of a random script or a run of one sign: no sense, valid
/// UTF-8.
std::string oddText(size_t n, uint32_t seed) {
  static constexpr struct {
    uint32_t first, count;
  } scripts[] = {{' ', 95},       {'0', 10},       {0xa1, 95},     {0x391, 64},
                 {0x410, 64},     {0x5d0, 27},     {0x905, 50},    {0x3041, 86},
                 {0x4e00, 20000}, {0xac00, 11000}, {0x1f300, 700}, {'\t', 2}};
  std::mt19937 random(seed);
  std::string text;
  while (n-- > 0) {
    auto [first, count] = scripts[random() % std::size(scripts)];
    uint32_t sign = first + random() % count;
    char bytes[4], *end = bytes;
    llvm::ConvertCodePointToUTF8(sign, end);
    for (size_t repeats = random() % 4 ? 1 : 1 + random() % 8; repeats > 0; --repeats)
      text.append(bytes, end);
  }
  return text;
}

/// Both kinds start as every text's ids do: without the BOS that it was trained with, Gemma is so
/// unstable that int8 activations move its logits by 10.
std::vector<std::vector<int32_t>> otherPrompts(const Tokenizer &t) {
  std::vector<std::vector<int32_t>> prompts;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    prompts.push_back(t.encode("", true, false));
    llvm::append_range(prompts.back(), randomIds(3 * seed, t.nTokens(), seed));
    prompts.push_back(t.encode(oddText(2 * seed, seed), true, false));
  }
  return prompts;
}
} // namespace

TEST_CASE("on prompts that nobody chose the fast path leaves the interpreter at small margins") {
  constexpr size_t nTokens = 8;
  for (const RealModel &m : realModels) {
    std::string path = realModel(m);
    if (path.empty())
      continue;
    auto model = load(path, "f16", 2);
    auto prompts = otherPrompts(model->tokenizer());
    SessionOptions o{.nCtx = 128, .nSequences = uint32_t(prompts.size()), .nOutputs = 8};
    auto fast = greedySideBySide(*open(model, o), prompts, nTokens);
    auto exact = greedySideBySide(*reference(path, "f16", o), prompts, nTokens);
    for (size_t i = 0; i < prompts.size(); ++i) {
      size_t at = firstDifference(fast[i].ids, exact[i].ids);
      INFO(m.golden << " prompt " << i << ": " << model->tokenizer().decode(prompts[i]) << " step "
                    << at << " margin " << (at < nTokens ? exact[i].margins[at] : 0));
      CHECK((at == nTokens || exact[i].margins[at] < 0.35));
    }
  }
}
