// What random models promise: the same bytes for the same options, values by name, sane sizes.
#include "frontends/Architecture.h"
#include "frontends/gguf/FileType.h"
#include "runtime/abi/Dequantize.h"
#include "tests/unit/Catch.h"
#include "tests/unit/tiny/TinyFile.h"

#include <cmath>

using namespace vetro;
using namespace vetro::test;

/// All values of a tensor.
static std::vector<float> valuesOf(const gguf::File &file, llvm::StringRef name) {
  const gguf::TensorInfo *tensor = file.findTensor(name);
  REQUIRE(tensor);
  uint64_t n = tensor->numRows() * tensor->ne[0];
  std::vector<float> values(n);
  dequantizeRow(tensor->format, file.data(*tensor).data(), n, values.data());
  return values;
}

static double rms(const std::vector<float> &values, double mean) {
  double sum = 0;
  for (float v : values)
    sum += (v - mean) * (v - mean);
  return std::sqrt(sum / values.size());
}

static std::string refusal(const TinyOptions &options) {
  return llvm::toString(makeTiny(options, "not-written.gguf"));
}

TEST_CASE("the same options give the same bytes, another seed others") {
  for (llvm::StringRef arch : architectureNames()) {
    TinyOptions options{.arch = arch.str(), .type = "Q4_K_M"};
    std::string first = TinyFile(options).bytes();
    CHECK(first == TinyFile(options).bytes());
    options.seed = 1;
    CHECK(first != TinyFile(options).bytes());
  }
}

TEST_CASE("a tensor's bytes depend on its name, not on what else is there") {
  TinyFile two({.arch = "llama", .type = "Q5_K"});
  TinyFile one({.arch = "llama", .type = "Q5_K", .layers = 1, .optional = true});
  auto a = two.open(), b = one.open();
  CHECK(a->findTensor("blk.1.attn_q.weight"));
  CHECK(!b->findTensor("blk.1.attn_q.weight"));
  for (const char *name : {"blk.0.attn_q.weight", "token_embd.weight", "output_norm.weight"})
    CHECK(a->data(*a->findTensor(name)) == b->data(*b->findTensor(name)));
  CHECK(a->data(*a->findTensor("blk.0.attn_q.weight")) !=
        a->data(*a->findTensor("blk.1.attn_q.weight")));
}

TEST_CASE("norms are near one, matrices keep sizes") {
  auto file = TinyFile({.arch = "llama", .type = "F32"}).open();
  CHECK(rms(valuesOf(*file, "output_norm.weight"), 1) == Approx(0.1).epsilon(0.2));
  CHECK(rms(valuesOf(*file, "token_embd.weight"), 0) == Approx(0.25 / 16).epsilon(0.02));
  CHECK(rms(valuesOf(*file, "blk.0.attn_q.weight"), 0) == Approx(1.0 / 16).epsilon(0.02));
  CHECK(rms(valuesOf(*file, "blk.1.ffn_down.weight"), 0) ==
        Approx(1 / std::sqrt(512.0)).epsilon(0.02));
}

TEST_CASE("optional tensors come when asked for") {
  const char *names[] = {"output.weight", "rope_freqs.weight", "blk.0.attn_q.bias"};
  auto plain = TinyFile({.arch = "llama", .type = "F16"}).open();
  auto full = TinyFile({.arch = "llama", .type = "F16", .optional = true}).open();
  for (const char *name : names) {
    CHECK(!plain->findTensor(name));
    CHECK(full->findTensor(name));
  }
  for (float v : valuesOf(*full, "rope_freqs.weight"))
    CHECK(v >= 1);
}

TEST_CASE("shapes, layers and overrides decide the sizes") {
  auto file = TinyFile({.arch = "llama",
                        .type = "Q4_K_M",
                        .shape = "135m",
                        .layers = 1,
                        .overrides = {"llama.feed_forward_length=u32:96"}})
                  .open();
  CHECK(file->findTensor("token_embd.weight")->ne[1] == 49152);
  CHECK(file->findTensor("token_embd.weight")->format == Format::Q8_0); // 576: Q6_K does not fit
  CHECK(file->findTensor("blk.0.attn_q.weight")->format == Format::Q5_0);
  CHECK(file->findTensor("blk.0.ffn_down.weight")->ne[0] == 96);
  CHECK(*file->find("llama.block_count")->asUInt() == 1);
}

TEST_CASE("what cannot be made is refused") {
  CHECK(refusal({.arch = "nobody"}).find("unknown architecture \"nobody\"") == 0);
  CHECK(refusal({.arch = "llama", .type = "Q9"}).find("unknown file type \"Q9\"") == 0);
  CHECK(refusal({.arch = "llama", .shape = "9b"}).find("unknown shape \"9b\"") == 0);
  CHECK(refusal({.arch = "llama", .overrides = {"llama.attention.head_count=u32:3"}}).find("key") ==
        0);
  CHECK(refusal({.arch = "llama", .overrides = {"x"}}).find("override \"x\"") == 0);
}
