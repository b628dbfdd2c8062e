// What the engine's tests share: models, runs and golden files.
#pragma once

#include "runtime/engine/Engine.h"
#include "runtime/engine/Reference.h"
#include "runtime/engine/Session.h"
#include "tests/unit/Catch.h"
#include "tests/unit/TestData.h"

#include <nlohmann/json.hpp>

namespace vetro::test {

/// A real model and the stem of its golden files.
struct RealModel {
  const char *file, *golden;
};
inline constexpr RealModel realModels[] = {
    {"SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2"},
    {"gemma-3-270m.Q4_K_M.gguf", "gemma3"},
};

/// The path of the model, or empty (and the test says why it skips).
std::string realModel(const RealModel &m);
/// The tiny trained F32 model with reference logits, or empty.
std::string storiesModel();

nlohmann::json golden(const RealModel &m, const std::string &kind);

/// Loads; fails the test on an error. Compiled plans are kept in the build folder.
std::shared_ptr<Model> load(const std::string &path, const std::string &kv = "f16",
                            unsigned threads = 1, uint32_t nCtx = 4096);
std::unique_ptr<Session> open(std::shared_ptr<Model> model, SessionOptions options = {});
/// The interpreter, with K and V kept as `kv`.
std::unique_ptr<Reference> reference(const std::string &path, const std::string &kv = "f32",
                                     SessionOptions options = {});

/// Runs `ids` in sequence 0, in pieces of the given sizes (the last one repeats), and returns the
/// logits of the last position.
std::vector<float> lastLogits(Evaluator &e, llvm::ArrayRef<int32_t> ids,
                              std::vector<size_t> pieces = {});
/// Greedy ids that follow each of `prompts`, nTokens a prompt, past any end, and for each the first
/// minus the second logit. All prompts run side by side, prompt i in sequence i, which must be
/// empty.
struct GreedyRun {
  std::vector<int32_t> ids;
  std::vector<float> margins;
};
std::vector<GreedyRun> greedySideBySide(Evaluator &e, llvm::ArrayRef<std::vector<int32_t>> prompts,
                                        size_t nTokens);

/// The first step at which the ids differ; their number if they do not.
inline size_t firstDifference(llvm::ArrayRef<int32_t> a, llvm::ArrayRef<int32_t> b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

/// Logits of every position, one row after the other.
std::vector<float> allLogits(Evaluator &e, llvm::ArrayRef<int32_t> ids);

/// A prompt of n ids that no text made: seeded, in the vocabulary.
std::vector<int32_t> randomIds(size_t n, int32_t nVocab, uint32_t seed);

template <typename T> T must(llvm::Expected<T> value) {
  if (!value)
    FAIL(llvm::toString(value.takeError()));
  return std::move(*value);
}
inline void must(llvm::Error error) {
  if (error)
    FAIL(llvm::toString(std::move(error)));
}

} // namespace vetro::test
