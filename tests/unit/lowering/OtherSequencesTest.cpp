// A sequence whose numbers are broken, beside one whose are not: whole models, fused or not.
#include "runtime/engine/Reference.h"
#include "runtime/engine/Session.h"
#include "tests/unit/frontends/TinyLlama.h"
#include "tests/unit/gguf/TinyGguf.h"

#include <cmath>

using namespace vetro;
using namespace vetro::test;

namespace {

constexpr int32_t broken = 7; // the token whose embedding is NaN

template <typename T> T must(llvm::Expected<T> value) {
  std::string message = value ? "" : llvm::toString(value.takeError());
  REQUIRE(message == "");
  return std::move(*value);
}

/// Logits of sequence 1's eight tokens; beside each a broken token of sequences 0 and 2, or
/// nothing.
std::vector<float> logits(Evaluator &evaluator, bool beside) {
  std::vector<BatchToken> batch;
  for (int32_t id : {1, 17, 300, 45, 45, 260, 99, 3}) {
    if (beside)
      batch.push_back({broken, 0, true});
    batch.push_back({id, 1, true});
    if (beside)
      batch.push_back({broken, 2, true});
  }
  std::vector<float> ours;
  std::string message =
      llvm::toString(evaluator.decode(batch, [&](size_t i, llvm::ArrayRef<float> row) {
        if (batch[i].sequence == 1)
          ours.insert(ours.end(), row.begin(), row.end());
        else
          CHECK(std::isnan(row[0]));
      }));
  REQUIRE(message == "");
  REQUIRE(llvm::all_of(ours, [](float v) { return std::isfinite(v); }));
  return ours;
}

} // namespace

TEST_CASE("NaN in one sequence reaches no other, with and without fused attention") {
  TempDir dir;
  ModelOptions options;
  options.path = dir.file("m.gguf"), options.cacheDir = dir.file("plans");
  writeFile(options.path,
            TinyLlama().vocabulary().element("token_embd.weight", broken * 64, NAN).bytes());
  SessionOptions session{.nCtx = 64, .nSequences = 3};
  for (std::vector<std::string> disable : {std::vector<std::string>{}, {"fuse-attention"}}) {
    options.disable = disable;
    auto model = must(Model::load(options));
    for (uint32_t nUbatch : {512u, 5u}) {
      session.nUbatch = session.nOutputs = nUbatch;
      INFO((disable.empty() ? "fused" : "unfused") << ", micro-batches of " << nUbatch);
      auto alone = must(Session::create(model, session)),
           mixed = must(Session::create(model, session));
      CHECK(logits(*mixed, true) == logits(*alone, false));
    }
  }
  auto alone = must(Reference::create(options, session)),
       mixed = must(Reference::create(options, session));
  CHECK(logits(*mixed, true) == logits(*alone, false));
}
