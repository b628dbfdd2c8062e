// Same bits whatever the threads, the micro-batches, the company and the history.
#include "tests/unit/engine/EngineTest.h"

using namespace vetro;
using namespace vetro::test;

namespace {
/// All models that are here, with the KV types to try.
std::vector<std::string> models() {
  std::vector<std::string> paths;
  for (const RealModel &m : realModels)
    if (std::string path = realModel(m); !path.empty())
      paths.push_back(path);
  if (std::string path = storiesModel(); !path.empty())
    paths.push_back(path);
  return paths;
}
constexpr size_t promptLength = 70; // prefill, and a second page is not needed to split it
} // namespace

TEST_CASE("logits do not depend on the number of threads") {
  for (const std::string &path : models())
    for (const char *kv : {"f16", "f32"}) {
      std::vector<float> one;
      for (unsigned threads : {1, 2, 3, 4}) {
        auto m = load(path, kv, threads);
        auto ids = randomIds(promptLength, m->tokenizer().nTokens(), 7);
        std::vector<float> logits = lastLogits(*open(m), ids);
        if (threads == 1)
          one = logits;
        INFO(path << " kv " << kv << " threads " << threads);
        CHECK(logits == one);
      }
    }
}

TEST_CASE("logits do not depend on micro-batches or on how the prompt is split") {
  for (const std::string &path : models())
    for (const char *kv : {"f16", "f32"}) {
      auto m = load(path, kv, 2);
      auto ids = randomIds(promptLength, m->tokenizer().nTokens(), 11);
      std::vector<float> whole = lastLogits(*open(m), ids);
      for (uint32_t ubatch : {1, 7, 64, 512}) {
        SessionOptions o;
        o.nUbatch = ubatch;
        INFO(path << " kv " << kv << " ubatch " << ubatch);
        CHECK(lastLogits(*open(m, o), ids) == whole);
      }
      INFO(path << " kv " << kv);
      CHECK(lastLogits(*open(m), ids, {1}) == whole); // token by token
      CHECK(lastLogits(*open(m), ids, {3, 1, 17, 8, 2, 9}) == whole);
    }
}

TEST_CASE("logits do not depend on other sequences or on a rewound cache") {
  for (const std::string &path : models()) {
    auto m = load(path, "f16", 2);
    int32_t nVocab = m->tokenizer().nTokens();
    auto ids = randomIds(40, nVocab, 3), other = randomIds(300, nVocab, 4);
    std::vector<float> alone = lastLogits(*open(m), ids);
    SessionOptions o;
    o.nSequences = 3;
    auto s = open(m, o);
    // Interleaved with two other sequences, one of which is long and then rewound.
    std::vector<BatchToken> batch;
    for (size_t i = 0; i < other.size(); ++i) {
      batch.push_back({other[i], 1});
      if (i % 3 == 0)
        batch.push_back({other[i], 2});
      if (i < ids.size())
        batch.push_back({ids[i], 0, i + 1 == ids.size()});
    }
    std::vector<float> among;
    must(s->decode(batch, [&](size_t, llvm::ArrayRef<float> l) { among = l.vec(); }));
    INFO(path);
    CHECK(among == alone);
    s->truncate(1, 5);
    s->truncate(0, 12);
    std::vector<float> rewound =
        lastLogits(*s, llvm::ArrayRef<int32_t>(ids).drop_front(12), {5, 3});
    CHECK(rewound == alone);
  }
}
