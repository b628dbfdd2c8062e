// Every architecture in every format: a random model loads without a leftover key or tensor, and
// the compiled plan's logits are near the interpreter's.
#include "frontends/Architecture.h"
#include "frontends/gguf/FileType.h"
#include "runtime/engine/Reference.h"
#include "runtime/engine/Session.h"
#include "tests/unit/Catch.h"
#include "tests/unit/tiny/TinyFile.h"

#include <cmath>

using namespace vetro;
using namespace vetro::test;

namespace {

using Logits = std::vector<float>;

/// Eight tokens, all at once, then logits of each.
Logits logitsOf(Evaluator &evaluator) {
  std::vector<BatchToken> batch;
  for (int32_t id : {1, 300, 17, 411, 92, 300, 511, 64})
    batch.push_back({id, 0, true});
  Logits all;
  std::string message = llvm::toString(evaluator.decode(
      batch, [&](size_t, llvm::ArrayRef<float> l) { all.insert(all.end(), l.begin(), l.end()); }));
  INFO(message);
  REQUIRE(message.empty());
  return all;
}

double power(const Logits &x) {
  double sum = 0;
  for (float v : x)
    sum += double(v) * v;
  return sum;
}

double nmse(const Logits &found, const Logits &expected) {
  REQUIRE(found.size() == expected.size());
  Logits difference = found;
  for (size_t i = 0; i < found.size(); ++i)
    difference[i] -= expected[i];
  return power(difference) / power(expected);
}

template <typename T> T require(llvm::Expected<T> value) {
  INFO((value ? "" : llvm::toString(value.takeError())));
  REQUIRE(bool(value));
  return std::move(*value);
}

/// Distance of the fast path from the interpreter; both keep keys and values in f32.
double distance(const TinyOptions &options) {
  INFO(options.arch << " " << options.type);
  TinyFile file(options);
  ModelOptions model;
  model.path = file.path();
  model.kvType = "f32";
  model.pin = false;
  SessionOptions session{.nCtx = 64, .nUbatch = 8, .nOutputs = 8};
  auto reference = require(Reference::create(model, session));
  CHECK(reference->graph().report.unusedKeys.empty());
  CHECK(reference->graph().report.unusedTensors.empty());
  auto fast = require(Session::create(require(Model::load(model)), session));
  Logits expected = logitsOf(*reference), found = logitsOf(*fast);
  double size = std::sqrt(power(expected) / expected.size());
  CHECK((size > 0.1 && size < 10)); // neither faded nor exploded
  return nmse(found, expected);
}

/// Weights that are floats differ by the order of sums only (measured: 4e-13); quantised ones also
/// by int8 activations (measured: at most 3.5e-4).
double bound(llvm::StringRef type) {
  return type == "F32" || type == "F16" || type == "BF16" ? 1e-11 : 6e-4;
}

} // namespace

TEST_CASE("random models of every architecture run") {
  for (llvm::StringRef arch : architectureNames())
    for (const char *type : {"F16", "Q4_K_M"}) {
      double d = distance({.arch = arch.str(), .type = type});
      INFO(arch.str() << " " << type << ": " << d);
      CHECK(d <= bound(type));
    }
}

TEST_CASE("random models with all optional tensors run") {
  for (llvm::StringRef arch : architectureNames()) {
    double d = distance({.arch = arch.str(), .type = "F32", .optional = true});
    INFO(arch.str() << ": " << d);
    CHECK(d <= bound("F32"));
  }
}

TEST_CASE("random mixtures of experts run") {
  double d = distance({.arch = "llama",
                       .type = "F16",
                       .overrides = {"llama.expert_count=u32:4", "llama.expert_used_count=u32:2"}});
  INFO(d);
  CHECK(d <= bound("F16"));
}

TEST_CASE("random models of every architecture and file type run", "[.full]") {
  for (llvm::StringRef arch : architectureNames())
    for (llvm::StringRef type : gguf::fileTypeNames()) {
      double d = distance({.arch = arch.str(), .type = type.str()});
      INFO(arch.str() << " " << type.str() << ": " << d);
      CHECK(d <= bound(type));
    }
}
