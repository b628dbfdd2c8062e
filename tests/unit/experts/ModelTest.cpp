// A mixture of experts on the fast path: against the interpreter, and bit-equal to itself however
// the tokens are cut into micro-batches and the work into threads.
#include "runtime/engine/Hooks.h"
#include "runtime/engine/Reference.h"
#include "runtime/engine/Session.h"
#include "runtime/kernels/cpu/Bitcode.h"
#include "tests/unit/frontends/TinyLlama.h"
#include "tests/unit/gguf/TinyGguf.h"

#include <cmath>
#include <set>

using namespace vetro;
using namespace vetro::test;

using Logits = std::vector<std::vector<float>>;

static const std::vector<int32_t> prompt{1, 17, 300, 45, 45, 260, 99, 3, 211, 64, 5};

template <typename T> static T must(llvm::Expected<T> value) {
  std::string message = value ? "" : llvm::toString(value.takeError());
  REQUIRE(message == "");
  return std::move(*value);
}

/// Logits of every position.
static Logits run(Evaluator &evaluator) {
  std::vector<BatchToken> batch;
  for (int32_t id : prompt)
    batch.push_back({id, 0, true});
  Logits all;
  std::string message = llvm::toString(evaluator.decode(
      batch, [&](size_t, llvm::ArrayRef<float> row) { all.push_back(row.vec()); }));
  REQUIRE(message == "");
  return all;
}

/// A file in a folder of its own.
struct File {
  TempDir dir;
  ModelOptions options;
  explicit File(const TinyLlama &m) {
    options.path = dir.file("m.gguf");
    options.kvType = "f32";
    options.cacheDir = dir.file("cache"); // one compilation for all runs of a file
    writeFile(options.path, m.bytes());
  }
  Logits fast(unsigned threads = 1, uint32_t ubatch = 512, const std::string &level = "") {
    ModelOptions o = options;
    o.nThreads = threads, o.level = level;
    SessionOptions s;
    s.nUbatch = ubatch, s.nOutputs = ubatch;
    return run(*must(Session::create(must(Model::load(o)), s)));
  }
  Logits reference() { return run(*must(Reference::create(options, {}))); }
};

/// Mean square error over mean square.
static double nmse(const Logits &ours, const Logits &theirs) {
  double error = 0, square = 0;
  REQUIRE(ours.size() == theirs.size());
  for (size_t t = 0; t < ours.size(); ++t)
    for (size_t i = 0; i < ours[t].size(); ++i) {
      error += std::pow(double(ours[t][i]) - theirs[t][i], 2);
      square += std::pow(double(theirs[t][i]), 2);
    }
  REQUIRE(square > 0);
  return error / square;
}

TEST_CASE("experts in F32 agree with the interpreter") {
  // Rows of an expert that are whole tiles of 16, and that are not.
  for (uint64_t width : {32u, 24u}) {
    File file(TinyLlama().experts(5, 2, width).vocabulary());
    CHECK(nmse(file.fast(), file.reference()) < 1e-10);
  }
}

TEST_CASE("experts in quantised formats agree with the interpreter") {
  for (Format format : {Format::Q8_0, Format::Q4_0, Format::F16}) {
    File file(TinyLlama().experts(4, 3, 32, format).vocabulary());
    // The fast path rounds activations to 8 bits: about 1e-5 per product.
    CHECK(nmse(file.fast(), file.reference()) < (format == Format::F16 ? 1e-9 : 1e-3));
  }
}

TEST_CASE("experts: the same bits for any threads and micro-batches") {
  File file(TinyLlama().experts(4, 2, 24, Format::F16).vocabulary());
  Logits one = file.fast();
  CHECK(file.fast(3) == one);
  CHECK(file.fast(1, 1) == one);
  CHECK(file.fast(2, 4) == one);
}

TEST_CASE("experts: every level agrees with the interpreter") {
  File file(TinyLlama(1).experts(4, 2, 32, Format::Q8_0).vocabulary());
  Logits reference = file.reference();
  for (const char *level : {"scalar", "avx2", "avx512", "vnni"})
    if (cpuHasLevel(level))
      CHECK(nmse(file.fast(1, 512, level), reference) < 1e-3);
}

TEST_CASE("a llama with biases runs on the fast path") {
  TinyLlama m(1);
  m.tensor("blk.0.attn_q.bias", {64}).tensor("blk.0.attn_output.bias", {64}).vocabulary();
  File file(m);
  CHECK(nmse(file.fast(), file.reference()) < 1e-10);
}

TEST_CASE("a norm weight in F16 runs on the fast path") {
  File file(TinyLlama(1).tensor("blk.0.ffn_norm.weight", {64}, Format::F16).vocabulary());
  CHECK(nmse(file.fast(), file.reference()) < 1e-10);
}

TEST_CASE("every step of a mixture of experts keeps to its bound") {
  for (Format format : {Format::F32, Format::Q8_0}) {
    File file(TinyLlama(1).experts(4, 2, 32, format).vocabulary());
    auto model = must(Model::load(file.options));
    auto recorder = must(HookRecorder::ofAllSteps(*model));
    SessionOptions options;
    options.nUbatch = options.nOutputs = 4;
    auto session = must(Session::create(model, options));
    session->observe(recorder.get());
    run(*session);
    std::set<std::string> proved;
    for (const Proof &p : must(recorder->prove(*session))) {
      INFO(p.name << " " << p.op << " " << p.worst);
      CHECK(p.worst <= 1);
      proved.insert(p.op);
    }
    for (const char *op : {"top_k", "take_along", "reduce", "clamp", "div", "moe_matmul"}) {
      INFO(op);
      CHECK(proved.count(op) == 1);
    }
  }
}
