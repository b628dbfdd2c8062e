// Helpers of the engine's tests.
#include "tests/unit/engine/EngineTest.h"
#include "runtime/engine/Reference.h"

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

std::shared_ptr<Model> load(const std::string &path, const std::string &kv, unsigned threads) {
  return must(Model::load(options(path, kv, threads)));
}

std::unique_ptr<Session> open(std::shared_ptr<Model> model, SessionOptions o) {
  return must(Session::create(std::move(model), o));
}

std::unique_ptr<Evaluator> reference(const std::string &path, const Tokenizer *&tokenizer) {
  auto r = must(Reference::create(options(path, "f32", 2), {}));
  tokenizer = &r->tokenizer();
  return r;
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
