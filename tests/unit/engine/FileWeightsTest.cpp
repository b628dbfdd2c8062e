// Rows of weights that are kept are the file's rows.
#include "runtime/engine/Reference.h"
#include "tests/unit/engine/EngineTest.h"

using namespace vetro;
using namespace vetro::test;

namespace {
/// The first and last row of every weight, each read `times` times; the last reading counts.
std::vector<float> someRows(const gguf::File &file, const FileWeights &weights, int times) {
  std::vector<float> all;
  for (const gguf::TensorInfo &t : file.tensors())
    for (uint64_t row : {uint64_t(0), t.numRows() - 1}) {
      std::vector<float> values(t.ne[0]);
      for (int i = 0; i < times; ++i)
        weights.readRow(t.name, row, values.data());
      all.insert(all.end(), values.begin(), values.end());
    }
  return all;
}
} // namespace

TEST_CASE("rows of weights are the same however often they are read and whatever is kept") {
  for (const RealModel &m : realModels) {
    std::string path = realModel(m);
    if (path.empty())
      continue;
    auto file = must(gguf::File::open(path));
    FileWeights none(*file, 0), some(*file, 32 << 20), all(*file);
    std::vector<float> once = someRows(*file, none, 1);
    CHECK(someRows(*file, none, 3) == once);
    CHECK(none.keptRows() == 0);
    CHECK(someRows(*file, all, 1) == once);
    CHECK(all.keptRows() == 0); // one pass keeps nothing
    CHECK(someRows(*file, all, 2) == once);
    CHECK(someRows(*file, all, 1) == once);
    CHECK(someRows(*file, some, 3) == once);
    CHECK(some.keptRows() > 0);
    CHECK(all.keptRows() > some.keptRows());
  }
}

TEST_CASE("rows of weights are read by several threads at once") {
  std::string path = realModel(realModels[0]);
  if (path.empty())
    return;
  auto file = must(gguf::File::open(path));
  FileWeights none(*file, 0), all(*file);
  std::vector<float> expected = someRows(*file, none, 1);
  auto pool = must(ThreadPool::create({4, false}));
  std::vector<float> found[4];
  pool->run([&](unsigned t) { found[t] = someRows(*file, all, 3); });
  for (const std::vector<float> &rows : found)
    CHECK(rows == expected);
}
