// What the llama frontend builds from each of its variants.
#include "tests/unit/frontends/TinyLlama.h"
#include "tests/unit/gguf/TinyGguf.h"

using namespace vetro;
using namespace vetro::test;

/// The line of the printed graph that holds `part`; empty where none does.
static std::string lineWith(const std::string &text, const std::string &part) {
  size_t at = text.find(part);
  if (at == std::string::npos)
    return "";
  size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

TEST_CASE("llama: tied and untied output") {
  CHECK(has(built(TinyLlama()).text(), "get_weight @output.weight"));
  std::string tied = built(TinyLlama().dropTensor("output.weight")).text();
  CHECK_FALSE(has(tied, "@output.weight"));
  CHECK(has(tied, "tensor<?x320xf32>"));
}

TEST_CASE("llama: optional biases") {
  TinyLlama m(1);
  CHECK_FALSE(has(built(m).text(), ".bias"));
  m.tensor("blk.0.attn_q.bias", {64}).tensor("blk.0.attn_k.bias", {32});
  m.tensor("blk.0.attn_v.bias", {32}).tensor("blk.0.attn_output.bias", {64});
  std::string text = built(m).text();
  for (const char *bias : {"attn_q", "attn_k", "attn_v", "attn_output"})
    CHECK(has(text, std::string("get_weight @blk.0.") + bias + ".bias"));
  CHECK(has(refusal(m.tensor("blk.0.attn_k.bias", {64})),
            "tensor 'blk.0.attn_k.bias' has shape [64]; expected [32]"));
}

TEST_CASE("llama: rotates neighbours") {
  std::string rope = lineWith(built(TinyLlama(1)).text(), "vetro.rope ");
  CHECK(has(rope, "mode = \"norm\""));
  CHECK(has(rope, "n_dims = 16"));
}

TEST_CASE("llama: factors of the frequencies") {
  std::string text = built(TinyLlama(1).constant("rope_freqs.weight", {8}, 2)).text();
  CHECK(has(text, "get_weight @rope_freqs.weight"));
  CHECK(has(lineWith(text, "vetro.rope "), "tensor<8xf32>"));
}

TEST_CASE("llama: linear scaling") {
  TinyLlama m(1);
  m.key<float>("llama.rope.scaling.factor", 4);
  CHECK(has(lineWith(built(m).text(), "vetro.rope "), "freq_scale = 2.500000e-01"));
  m.text("llama.rope.scaling.type", "none");
  CHECK_FALSE(has(lineWith(built(m).text(), "vetro.rope "), "freq_scale = 2.5"));
  m.dropKey("llama.rope.scaling.factor").dropKey("llama.rope.scaling.type");
  m.key<float>("llama.rope.scale_linear", 8);
  CHECK(has(lineWith(built(m).text(), "vetro.rope "), "freq_scale = 1.250000e-01"));
}

TEST_CASE("llama: yarn") {
  TinyLlama m(1);
  m.text("llama.rope.scaling.type", "yarn").key<float>("llama.rope.scaling.factor", 4);
  m.key<uint32_t>("llama.rope.scaling.original_context_length", 32);
  std::string rope = lineWith(built(m).text(), "vetro.rope ");
  CHECK(has(rope, "ext_factor = 1.000000e+00"));
  CHECK(has(rope, "n_ctx_orig = 32"));
  m.key<float>("llama.rope.scaling.yarn_beta_fast", 16);
  m.key<float>("llama.rope.scaling.yarn_attn_factor", 1); // 1 / (1 + 0.1 ln 4) = 0.878
  rope = lineWith(built(m).text(), "vetro.rope ");
  CHECK(has(rope, "beta_fast = 1.600000e+01"));
  CHECK(has(rope, "attn_factor = 0.878"));
}

TEST_CASE("llama: longrope chooses its factors by the context") {
  TinyLlama m(1);
  m.constant("rope_factors_long.weight", {8}, 4).constant("rope_factors_short.weight", {8}, 1);
  m.key<uint32_t>("llama.rope.scaling.original_context_length", 64);
  m.key<float>("llama.rope.scaling.attn_factor", 1.25f);
  GraphOptions options;
  options.nCtx = 64;
  // Rotations name the factors they read as their third operand.
  auto factors = [&](const GraphOptions &o) {
    std::string text = built(m, o).text(), rope = lineWith(text, "vetro.rope ");
    CHECK(has(rope, "attn_factor = 1.250000e+00"));
    std::string longer = lineWith(text, "get_weight @rope_factors_long.weight");
    longer = longer.substr(longer.find('%'), longer.find(" =") - longer.find('%'));
    return has(rope, longer + " ") ? "long" : "short";
  };
  CHECK(std::string(factors(options)) == "short");
  options.nCtx = 65;
  CHECK(std::string(factors(options)) == "long");
}

TEST_CASE("llama: experts") {
  std::string text = built(TinyLlama(1).experts(4, 2, 32)).text();
  CHECK(has(text, "vetro.top_k"));
  CHECK(has(text, "tensor<?x1x64xf32>, tensor<4x32x64xf32>, tensor<?x2xi32>) -> "
                  "tensor<?x2x32xf32>"));
  CHECK(has(text, "tensor<?x2x32xf32>, tensor<4x64x32xf32>, tensor<?x2xi32>) -> "
                  "tensor<?x2x64xf32>"));
  CHECK(has(lineWith(text, "vetro.clamp"), "lo = 6.10351563E-5"));
  CHECK_FALSE(has(text, "ffn_up.weight"));
}
