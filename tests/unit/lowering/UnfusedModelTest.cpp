// Whole models with fusions switched off: close to the fused run, same text, same bits for any
// split.
#include "passes/Passes.h"
#include "runtime/engine/Hooks.h"
#include "runtime/engine/Session.h"
#include "tests/unit/Catch.h"
#include "tests/unit/TestData.h"

#include <cmath>
#include <cstring>

using namespace vetro;
using namespace vetro::test;

namespace {

std::vector<std::string> fusions() {
  std::vector<std::string> names;
  for (llvm::StringRef name : passNames())
    if (name.starts_with("fuse-"))
      names.push_back(name.str());
  return names;
}

struct Run {
  std::vector<float> logits;  ///< of every prompt token, one row after the other
  std::vector<int32_t> ids;   ///< greedy, 8 of them
  std::vector<float> margins; ///< of each: the best logit over the second
};

template <typename T> T check(llvm::Expected<T> value) {
  if (!value)
    FAIL(llvm::toString(value.takeError()));
  return std::move(*value);
}

/// The largest logit's id, and how far it leads.
std::pair<int32_t, float> best(llvm::ArrayRef<float> row) {
  int32_t first = int32_t(std::max_element(row.begin(), row.end()) - row.begin());
  float second = -INFINITY;
  for (int32_t i = 0; i < int32_t(row.size()); ++i)
    if (i != first)
      second = std::max(second, row[i]);
  return {first, row[first] - second};
}

std::shared_ptr<Model> load(const std::string &path, const std::vector<std::string> &disable,
                            unsigned nThreads = 1) {
  ModelOptions options;
  options.path = path;
  options.disable = disable;
  options.nThreads = nThreads;
  options.pin = false;
  return check(Model::load(options));
}

Run run(std::shared_ptr<const Model> model, uint32_t nUbatch) {
  SessionOptions options;
  options.nCtx = 128, options.nUbatch = nUbatch, options.nOutputs = nUbatch;
  auto session = check(Session::create(model, options));
  std::vector<BatchToken> prompt;
  for (int32_t id : model->tokenizer().encode("Once upon a time, there was a little", true, false))
    prompt.push_back({id, 0, true});
  Run result;
  std::pair<int32_t, float> next;
  auto decode = [&](llvm::ArrayRef<BatchToken> batch, bool keep) {
    llvm::Error error = session->decode(batch, [&](size_t, llvm::ArrayRef<float> row) {
      if (keep)
        result.logits.insert(result.logits.end(), row.begin(), row.end());
      next = best(row);
    });
    REQUIRE(!error);
  };
  decode(prompt, true);
  for (int i = 0; i < 8; ++i) {
    result.ids.push_back(next.first);
    result.margins.push_back(next.second);
    decode({BatchToken{next.first, 0, true}}, false);
  }
  return result;
}

struct Distance {
  double largest = 0; ///< of one logit
  double nmse = 0;    ///< mean square difference over mean square of `a`
};
Distance distance(const Run &a, const Run &b) {
  REQUIRE(a.logits.size() == b.logits.size());
  Distance d;
  double square = 0;
  for (size_t i = 0; i < a.logits.size(); ++i) {
    double difference = double(a.logits[i]) - b.logits[i];
    d.largest = std::max(d.largest, std::fabs(difference));
    d.nmse += difference * difference, square += double(a.logits[i]) * a.logits[i];
  }
  d.nmse /= square;
  return d;
}

/// Whether greedy text leaves the fused run's only where that much on both logits changes the
/// order.
bool sameText(const Run &fused, const Run &other, double largest) {
  for (size_t i = 0; i < fused.ids.size(); ++i)
    if (other.ids[i] != fused.ids[i])
      return fused.margins[i] <= 2 * largest;
  return true;
}

/// All fusions off, and each: the same greedy text, logits within `bound` (NMSE) of the fused
/// run's.
void compareSettings(const std::string &path, double bound, bool each) {
  Run fused = run(load(path, {}), 512);
  std::vector<std::vector<std::string>> settings = {fusions()};
  for (const std::string &name : fusions())
    if (each)
      settings.push_back({name});
  for (const std::vector<std::string> &disable : settings) {
    Run other = run(load(path, disable), 512);
    Distance d = distance(fused, other);
    INFO((disable.size() == 1 ? disable[0] : "all fusions")
         << " off: largest difference of logits " << d.largest << ", nmse " << d.nmse);
    CHECK(sameText(fused, other, d.largest));
    CHECK(d.nmse <= bound); // false for NaN
    if (disable.size() == 1 && disable[0] != "fuse-attention")
      CHECK(d.largest == 0); // only attention's fusion changes an order of sums
  }
}

/// Values of the prompt under the names that end in one of these, and the proofs of their steps.
struct Dump {
  std::vector<HookValue> values;
  std::vector<Proof> proofs;
};
Dump dump(std::shared_ptr<const Model> model, uint32_t nUbatch) {
  auto hooks = check(HookRecorder::list(*model));
  llvm::erase_if(hooks, [](const Hook &h) {
    static constexpr llvm::StringLiteral ends[] = {"attn_scores", "attn_probs", "attn_ctx",
                                                   "k_cache", "v_cache"};
    return !llvm::any_of(ends,
                         [&](llvm::StringRef e) { return llvm::StringRef(h.name).ends_with(e); });
  });
  auto recorder = check(HookRecorder::create(*model, hooks));
  SessionOptions options;
  options.nCtx = 128, options.nUbatch = nUbatch;
  auto session = check(Session::create(model, options));
  session->observe(recorder.get());
  std::vector<BatchToken> prompt;
  for (int32_t id : model->tokenizer().encode("Once upon a time, there was a little", true, false))
    prompt.push_back({id});
  llvm::Error error = session->decode(prompt, [](size_t, llvm::ArrayRef<float>) {});
  REQUIRE(!error);
  return {check(recorder->values(*session)), check(recorder->prove(*session))};
}

/// The value of this name; a failed test where there is none.
const HookValue &valueOf(const Dump &d, const std::string &name) {
  auto it = llvm::find_if(d.values, [&](const HookValue &v) { return v.tensor.name == name; });
  INFO(name);
  REQUIRE(it != d.values.end());
  return *it;
}

std::string stories() { return dataDir() + "/stories260k/stories260K.gguf"; }

} // namespace

TEST_CASE("a small model without fusions equals itself with them") {
  if (dataDir().empty())
    return skip("no test data; set VETRO_TEST_DATA");
  // F32 weights and activations; other orders of sums leave 1e-7 of a value, and where one crosses
  // a rounding of the F16 cache, 5e-4 of one key or value.
  compareSettings(stories(), 1e-8, true);
}

TEST_CASE("without fusions bits depend on neither threads nor micro-batches") {
  if (dataDir().empty())
    return skip("no test data; set VETRO_TEST_DATA");
  auto one = load(stories(), fusions(), 1), two = load(stories(), fusions(), 2);
  Run whole = run(one, 512);
  for (const Run &other : {run(two, 512), run(one, 1), run(two, 7)}) {
    CHECK(other.ids == whole.ids);
    REQUIRE(other.logits.size() == whole.logits.size());
    CHECK(std::memcmp(other.logits.data(), whole.logits.data(),
                      whole.logits.size() * sizeof(float)) == 0);
  }
}

// Activations are int8 records: where a sum differs by an ulp, a code may differ by one, 1/127 of
// its block's largest value, and 30 layers carry that on. Two such runs stand as far from each
// other as each from F32: an nmse of 1e-3 on this prompt.
constexpr double recordNoise = 3e-3;

TEST_CASE("SmolLM2 without fusions gives the same text") {
  std::string path = model("SmolLM2-135M-Instruct.Q4_1.gguf");
  if (path.empty())
    return skip("no models/SmolLM2-135M-Instruct.Q4_1.gguf; run ./bootstrap models");
  compareSettings(path, recordNoise, false);
}

TEST_CASE("SmolLM2 without any one fusion gives the same text", "[.full]") {
  std::string path = model("SmolLM2-135M-Instruct.Q4_1.gguf");
  if (path.empty())
    return skip("no models/SmolLM2-135M-Instruct.Q4_1.gguf; run ./bootstrap models");
  compareSettings(path, recordNoise, true);
}

TEST_CASE("values over cells are dumped without fusions as with them") {
  if (dataDir().empty())
    return skip("no test data; set VETRO_TEST_DATA");
  auto plain = load(stories(), fusions());
  Dump fused = dump(load(stories(), {}), 512), whole = dump(plain, 512), split = dump(plain, 3);
  REQUIRE(whole.values.size() == 5 * 5); // 5 names, 5 layers
  REQUIRE(fused.values.size() == 5 * 5);
  for (const HookValue &v : whole.values) {
    INFO(v.tensor.name);
    const HookValue &other = valueOf(split, v.tensor.name), &f = valueOf(fused, v.tensor.name);
    bool overCells = llvm::StringRef(v.tensor.name).ends_with("attn_scores") ||
                     llvm::StringRef(v.tensor.name).ends_with("attn_probs");
    CHECK(v.label == (overCells ? "recomputed" : "ran"));
    if (overCells)
      CHECK(v.tensor.shape == f.tensor.shape);
    CHECK(v.tensor.shape == other.tensor.shape);
    CHECK(v.tensor.data == other.tensor.data);
    REQUIRE(v.tensor.data.size() == f.tensor.data.size());
    double error = 0, square = 0;
    for (size_t i = 0; i < f.tensor.data.size(); ++i) {
      double d = double(v.tensor.data[i]) - f.tensor.data[i];
      error += d * d, square += double(f.tensor.data[i]) * f.tensor.data[i];
    }
    CHECK(error <= 1e-8 * square); // F32 throughout; keys and values rounded to F16
  }
  CHECK(whole.proofs.size() >= 5); // the context of each layer proves its scores
  for (const Proof &p : whole.proofs) {
    INFO(p.name << " " << p.op << " " << p.worst);
    CHECK(p.worst <= 1);
    if (p.codesOff == 0)
      CHECK(p.nmse <= 1e-10);
  }
}
