// Chunks: where they lie, what of them counts, and that nothing but the text decides a bit.
#include "runtime/compare/Perplexity.h"
#include "tests/unit/engine/EngineTest.h"
#include "tests/unit/gguf/TinyGguf.h"
#include "tests/unit/tiny/TinyFile.h"
#include <cmath>
#include <numeric>

using namespace vetro;
using namespace vetro::test;

namespace {

/// Holds each token's double to follow it, in a vocabulary of 64; notes what it was given.
class Doubler : public Evaluator {
public:
  std::vector<int32_t> ids;
  float odd = 1; ///< the logit of the favourite

  llvm::Error decode(llvm::ArrayRef<BatchToken> batch,
                     llvm::function_ref<void(size_t, llvm::ArrayRef<float>)> onLogits) override {
    for (auto [i, token] : llvm::enumerate(batch)) {
      ids.push_back(token.id);
      std::vector<float> logits(64, 0.0f);
      logits[token.id * 2 % 64] = odd;
      if (token.output)
        onLogits(i, logits);
    }
    return llvm::Error::success();
  }
  uint32_t nCtx() const override { return 1000; }
  uint32_t length(uint32_t) const override { return 0; }
  void truncate(uint32_t, uint32_t) override { ids.clear(); }
};

std::vector<int32_t> counted(size_t n) {
  std::vector<int32_t> ids(n);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

Chunks cut(uint64_t nTokens, uint32_t nCtx, uint32_t stride = 0, uint64_t most = 0) {
  return must(cutIntoChunks(nTokens, nCtx, stride, most));
}

/// Row numbers and next tokens that a chunk hands out.
std::vector<std::pair<uint64_t, int32_t>> positions(Evaluator &e, const Chunks &chunks,
                                                    uint64_t chunk) {
  std::vector<std::pair<uint64_t, int32_t>> found;
  must(runChunk(e, chunks, chunk, counted(40),
                [&](uint64_t row, llvm::ArrayRef<float>, int32_t next) {
                  found.push_back({row, next});
                  return llvm::Error::success();
                }));
  return found;
}

using Positions = std::vector<std::pair<uint64_t, int32_t>>;

std::string refusal(uint64_t nTokens, uint32_t nCtx, uint32_t stride = 0) {
  auto chunks = cutIntoChunks(nTokens, nCtx, stride, 0);
  return chunks ? "accepted" : llvm::toString(chunks.takeError());
}

/// -ln p of every position that counts.
std::vector<double> likelihoods(Evaluator &e, const Chunks &chunks,
                                llvm::ArrayRef<int32_t> tokens) {
  std::vector<double> all;
  for (uint64_t i = 0; i < chunks.count; ++i)
    must(runChunk(e, chunks, i, tokens,
                  [&](uint64_t row, llvm::ArrayRef<float> logits, int32_t next) {
                    CHECK(row == all.size());
                    all.push_back(negativeLogLikelihood(logits, next));
                    return llvm::Error::success();
                  }));
  return all;
}

} // namespace

TEST_CASE("the second half of each chunk counts") {
  Chunks chunks = cut(31, 8);
  CHECK(chunks.count == 3); // the last 7 tokens are no chunk
  Doubler doubler;
  CHECK(positions(doubler, chunks, 0) == Positions{{0, 5}, {1, 6}, {2, 7}});
  CHECK(positions(doubler, chunks, 2) == Positions{{6, 21}, {7, 22}, {8, 23}});
  CHECK(doubler.ids == std::vector<int32_t>{16, 17, 18, 19, 20, 21, 22});
  chunks.bos = 60;
  CHECK(positions(doubler, chunks, 2) == Positions{{6, 21}, {7, 22}, {8, 23}});
  CHECK(doubler.ids == std::vector<int32_t>{60, 17, 18, 19, 20, 21, 22});
  CHECK(cut(31, 8, 0, 2).count == 2);
  CHECK(cut(31, 8, 0, 9).count == 3);
  CHECK(cut(6, 3).rowsPerChunk() == 1);
}

TEST_CASE("with a stride the last tokens of overlapping chunks count") {
  Chunks chunks = cut(31, 8, 3);
  CHECK(chunks.count == 8); // they begin at 0, 3, ... 21
  Doubler doubler;
  CHECK(positions(doubler, chunks, 0) == Positions{{0, 5}, {1, 6}, {2, 7}});
  CHECK(positions(doubler, chunks, 1) == Positions{{3, 8}, {4, 9}, {5, 10}});
  CHECK(doubler.ids == std::vector<int32_t>{3, 4, 5, 6, 7, 8, 9});
  CHECK(positions(doubler, cut(16, 8, 7), 1).front() == std::pair<uint64_t, int32_t>{7, 8});
}

TEST_CASE("what cannot be cut is refused") {
  CHECK(refusal(16, 8) == "accepted");
  CHECK(has(refusal(15, 8), "has 15 tokens, expected at least two chunks of 8"));
  CHECK(has(refusal(100, 2), "chunks of 2 tokens"));
  CHECK(has(refusal(100, 8, 8), "a stride of 8"));
  CHECK(has(refusal(UINT32_MAX, UINT32_MAX), "at least two chunks"));
}

TEST_CASE("the perplexity of a doubler") {
  Doubler doubler;
  doubler.odd = std::log(63.0f); // p of the favourite 1/2, of any other 1/126
  Moments nll;
  std::vector<int32_t> text = {1, 2, 4, 8, 16, 32, 0, 0, 0, 0, 0, 1};
  for (double v : likelihoods(doubler, cut(text.size(), 6), text))
    nll.add(v);
  REQUIRE(nll.count() == 4); // 16 and 32 are foreseen, then 0, then not 1
  CHECK(perplexity(nll).value == Approx(std::pow(2 * 2 * 2 * 126, 0.25)));
  double mean = (3 * std::log(2.0) + std::log(126.0)) / 4, spread = 0;
  for (double v : {std::log(2.0), std::log(2.0), std::log(2.0), std::log(126.0)})
    spread += (v - mean) * (v - mean);
  CHECK(perplexity(nll).error == Approx(std::exp(mean) * std::sqrt(spread / 3 / 4)));
}

TEST_CASE("logits that are no numbers and refused rows end a chunk") {
  Doubler doubler;
  auto run = [&](bool refuse) {
    return llvm::toString(runChunk(
        doubler, cut(16, 8), 1, counted(40), [&](uint64_t, llvm::ArrayRef<float>, int32_t) {
          return refuse ? llvm::createStringError("not that") : llvm::Error::success();
        }));
  };
  CHECK(run(false).empty());
  CHECK(run(true) == "not that");
  for (float odd : {NAN, INFINITY}) {
    doubler.odd = odd;
    CHECK(has(run(false), "the logits after token 4 of chunk 2 are no numbers"));
  }
}

TEST_CASE("threads, micro-batches and rows at a time change no bit of a likelihood") {
  TinyFile file({.arch = "llama", .type = "Q4_0"});
  std::vector<int32_t> text = randomIds(100, 400, 5);
  std::vector<double> wanted;
  struct Case {
    unsigned threads;
    uint32_t nUbatch, nOutputs;
  };
  for (Case c :
       {Case{1, 512, 512}, Case{2, 512, 512}, Case{1, 512, 7}, Case{2, 5, 3}, Case{1, 1, 1}}) {
    SessionOptions o;
    o.nCtx = 48, o.nUbatch = c.nUbatch, o.nOutputs = c.nOutputs;
    auto session = open(load(file.path(), "f16", c.threads), o);
    std::vector<double> found = likelihoods(*session, cut(text.size(), 48), text);
    if (wanted.empty())
      wanted = found;
    REQUIRE(found.size() == 46);
    CHECK(found == wanted);
  }
}
