// No allocation while a token runs.
#include "tests/unit/CountAllocations.h"
#include "tests/unit/engine/EngineTest.h"

using namespace vetro;
using namespace vetro::test;

TEST_CASE("a decoded token allocates nothing") {
  if (!countsAllocations)
    return skip("allocations cannot be counted under this sanitizer");
  for (const std::string &path : {realModel(realModels[0]), storiesModel()}) {
    if (path.empty())
      continue;
    auto model = load(path, "f16", 2);
    auto s = open(model);
    lastLogits(*s, randomIds(20, model->tokenizer().nTokens(), 1));
    auto chain = must(Chain::create({}, model->tokenizer().nTokens()));
    int32_t next = 1;
    size_t before = allocationCount();
    for (int i = 0; i < 300; ++i) { // crosses a page of 256 positions
      BatchToken token{next, 0, true};
      bool ok = !s->decode(token, [&](size_t, llvm::ArrayRef<float> logits) {
        next = llvm::cantFail(chain.sample(logits));
      });
      if (!ok)
        FAIL("decode failed");
    }
    CHECK(allocationCount() - before == 0);
  }
}
