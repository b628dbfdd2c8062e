// --round: every value is a number of the type, and each is what PyTorch's ops in that type give.
#include "compiler/ir/Names.h"
#include "runtime/abi/Float.h"
#include "runtime/engine/Dump.h"
#include "tests/unit/engine/EngineTest.h"
#include "tests/unit/tiny/TinyFile.h"

#include <cmath>
#include <map>

using namespace vetro;
using namespace vetro::test;

namespace {

float bf16(float x) { return bf16ToFloat(floatToBf16(x)); }
float f16(float x) { return f16ToFloat(floatToF16(x)); }

/// Every named value of a prompt.
std::map<std::string, std::vector<float>> valuesOf(const std::string &path,
                                                   const std::string &round) {
  ModelOptions options;
  options.path = path, options.kvType = "f32", options.round = round, options.pin = false;
  auto interpreter = must(Reference::create(options, {}));
  Dump run = must(
      dumpReference(*interpreter, options, randomIds(9, 400, 1), must(HookGlobs::create({"*"}))));
  std::map<std::string, std::vector<float>> values;
  for (HookValue &v : run.values)
    values[v.tensor.name] = std::move(v.tensor.data);
  return values;
}

template <typename Each>
void expectEach(const std::vector<float> &values, Each wanted, const char *what) {
  INFO(what);
  REQUIRE(!values.empty());
  size_t wrong = 0;
  for (size_t i = 0; i < values.size(); ++i)
    wrong += values[i] != wanted(i);
  CHECK(wrong == 0);
}

} // namespace

TEST_CASE("a rounded model's values are numbers of its type", "[rounding]") {
  TinyFile file({.arch = "llama", .type = "Q4_0", .layers = 2});
  auto exact = valuesOf(file.path(), "");
  for (auto [type, number] : {std::pair("bf16", &bf16), std::pair("f16", &f16)}) {
    auto values = valuesOf(file.path(), type);
    CHECK(values.size() == exact.size());
    for (auto &[name, numbers] : values)
      expectEach(numbers, [&, n = number](size_t i) { return n(numbers[i]); }, name.c_str());
    CHECK(values["logits"] != exact["logits"]);
  }
  ModelOptions options;
  options.path = file.path(), options.round = "f8";
  auto refused = Reference::create(options, {});
  CHECK(llvm::toString(refused.takeError()) == "round: found 'f8', expected bf16 or f16");
}

TEST_CASE("each op rounds once", "[rounding]") {
  TinyFile file({.arch = "llama", .type = "Q4_0", .layers = 1});
  auto v = valuesOf(file.path(), "bf16");
  auto &gate = v["blk.0.ffn_gate"], &up = v["blk.0.ffn_up"], &out = v["blk.0.attn_out"];
  expectEach(v["blk.0.resid_mid"], [&](size_t i) { return bf16(out[i] + v["embed"][i]); }, "sum");
  expectEach(
      v["blk.0.ffn_act"],
      [&](size_t i) { return bf16(bf16(gate[i] / (1 + std::exp(-gate[i]))) * up[i]); }, "gated");
  // Position 0 turns nothing; of the next each product is rounded, then their sum.
  size_t width = v["blk.0.q"].size() / 9, d = 64;
  const float *q = &v["blk.0.q"][width], *rotated = &v["blk.0.q_rope"][width];
  float cos = bf16(std::cos(1.0f)), sin = bf16(std::sin(1.0f));
  for (size_t head = 0; head < width / d; ++head) {
    float a = q[head * d], b = q[head * d + 1];
    CHECK(rotated[head * d] == bf16(bf16(a * cos) - bf16(b * sin)));
    CHECK(rotated[head * d + 1] == bf16(bf16(a * sin) + bf16(b * cos)));
  }
}

TEST_CASE("an architecture's norm rounds where its model does", "[rounding]") {
  auto normed = [](const std::vector<float> &x, size_t width, size_t i, float eps) {
    float mean = 0;
    for (size_t k = 0; k < width; ++k)
      mean += x[i / width * width + k] * x[i / width * width + k];
    return x[i] / std::sqrt(mean / width + eps);
  };
  // The random file's norm weights are near one. A result that rounds once is within half a unit
  // of the exact product; one that rounds twice is not, somewhere among thousands.
  auto roundsTwice = [&](const std::string &arch) {
    TinyFile file({.arch = arch, .type = "F32", .layers = 1});
    auto v = valuesOf(file.path(), "bf16");
    auto source = file.open();
    const gguf::TensorInfo &info = *source->findTensor("blk.0.attn_norm.weight");
    auto *w = reinterpret_cast<const float *>(source->data(info).data());
    size_t width = info.ne[0], off = 0;
    auto &y = v["blk.0.attn_norm"];
    float eps = float(*source->find(arch + ".attention.layer_norm_rms_epsilon")->asFloat());
    float offset = arch == "gemma3" ? 1 : 0;
    for (size_t i = 0; i < y.size(); ++i) {
      float weight = bf16(w[i % width] - offset) + offset;
      float exact = normed(v["embed"], width, i, eps) * weight;
      off += std::fabs(y[i] - exact) > std::ldexp(1.01f, std::ilogb(exact) - 8);
    }
    return off > 0;
  };
  CHECK(roundsTwice("llama"));
  CHECK_FALSE(roundsTwice("gemma3"));
}
