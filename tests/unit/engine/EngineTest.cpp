// Helpers of the engine's tests.
#include "tests/unit/engine/EngineTest.h"

#include <fstream>
#include <random>

namespace vetro::test {

std::string realModel(const RealModel &m) {
  std::string path = model(m.file);
  if (path.empty())
    skip(std::string(m.file) + " is not in models/; run ./bootstrap models");
  return path;
}

std::string storiesModel() {
  if (!dataDir().empty())
    return dataDir() + "/stories260k/stories260K.gguf";
  skip("the test data folder is missing; set VETRO_TEST_DATA");
  return "";
}

nlohmann::json golden(const RealModel &m, const std::string &kind) {
  std::ifstream file(sourceDir() + "/tests/golden/" + m.golden + "." + kind + ".json");
  REQUIRE(file);
  return nlohmann::json::parse(file);
}

static ModelOptions options(const std::string &path, const std::string &kv, unsigned threads) {
  ModelOptions o;
  o.path = path;
  o.kvType = kv;
  o.nThreads = threads;
  o.cacheDir = buildDir() + "/plans";
  o.pin = false; // more threads than processors are tried too
  return o;
}

std::shared_ptr<Model> load(const std::string &path, const std::string &kv, unsigned threads,
                            uint32_t nCtx) {
  ModelOptions o = options(path, kv, threads);
  o.nCtx = nCtx;
  return must(Model::load(o));
}

std::unique_ptr<Session> open(std::shared_ptr<Model> model, SessionOptions o) {
  return must(Session::create(std::move(model), o));
}

std::unique_ptr<Reference> reference(const std::string &path, const std::string &kv,
                                     SessionOptions o) {
  return must(Reference::create(options(path, kv, 2), o));
}

std::vector<float> lastLogits(Evaluator &e, llvm::ArrayRef<int32_t> ids,
                              std::vector<size_t> pieces) {
  if (pieces.empty())
    pieces = {ids.size()};
  std::vector<float> last;
  for (size_t begin = 0, piece = 0; begin < ids.size(); ++piece) {
    size_t n = std::min(pieces[std::min(piece, pieces.size() - 1)], ids.size() - begin);
    std::vector<BatchToken> batch;
    for (int32_t id : ids.slice(begin, n))
      batch.push_back({id});
    batch.back().output = true;
    must(e.decode(batch, [&](size_t, llvm::ArrayRef<float> l) { last = l.vec(); }));
    begin += n;
  }
  return last;
}

static void appendGreedy(GreedyRun &run, llvm::ArrayRef<float> logits) {
  size_t best = logits[0] < logits[1], second = 1 - best;
  for (size_t i = 2; i < logits.size(); ++i)
    if (logits[i] > logits[best])
      second = std::exchange(best, i);
    else if (logits[i] > logits[second])
      second = i;
  run.ids.push_back(int32_t(best));
  run.margins.push_back(logits[best] - logits[second]);
}

std::vector<GreedyRun> greedySideBySide(Evaluator &e, llvm::ArrayRef<std::vector<int32_t>> prompts,
                                        size_t nTokens) {
  std::vector<GreedyRun> runs(prompts.size());
  std::vector<BatchToken> batch;
  for (uint32_t s = 0; s < prompts.size(); ++s)
    for (size_t i = 0; i < prompts[s].size(); ++i)
      batch.push_back({prompts[s][i], s, i + 1 == prompts[s].size()});
  for (size_t step = 0; step < nTokens; ++step) {
    must(e.decode(batch, [&](size_t i, llvm::ArrayRef<float> logits) {
      appendGreedy(runs[batch[i].sequence], logits);
    }));
    batch.clear();
    for (uint32_t s = 0; s < runs.size(); ++s)
      batch.push_back({runs[s].ids.back(), s, true});
  }
  return runs;
}

std::vector<float> allLogits(Evaluator &e, llvm::ArrayRef<int32_t> ids) {
  std::vector<BatchToken> batch;
  for (int32_t id : ids)
    batch.push_back({id, 0, true});
  std::vector<float> all;
  must(e.decode(
      batch, [&](size_t, llvm::ArrayRef<float> l) { all.insert(all.end(), l.begin(), l.end()); }));
  return all;
}

std::vector<int32_t> randomIds(size_t n, int32_t nVocab, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> ids(n);
  for (int32_t &id : ids)
    id = int32_t(random() % nVocab);
  return ids;
}

} // namespace vetro::test
