// Each way in which a well-formed container contradicts its architecture, one change to a valid
// file each. A message names the key or tensor, what was found, what was expected, the next step.
#include "frontends/Import.h"
#include "tests/unit/TestData.h"
#include "tests/unit/frontends/TinyLlama.h"
#include "tests/unit/gguf/TinyGguf.h"

#include <cmath>

using namespace vetro;
using namespace vetro::test;

/// The file is refused, and the message holds all of these.
static void refused(const TinyLlama &file, std::initializer_list<const char *> parts) {
  std::string message = refusal(file);
  INFO(message);
  for (const char *part : parts)
    CHECK(has(message, part));
}

/// Any message about a key ends with the flag that would set it.
static std::string flag(const char *key, const char *type) {
  return "set it with --override-kv " + std::string(key) + "=" + type + ":VALUE";
}

TEST_CASE("the tiny llama is valid") {
  Built graph = built(TinyLlama());
  CHECK(graph.report.unusedKeys.empty());
  CHECK(graph.report.unusedTensors.empty());
  CHECK(graph.report.warnings.empty());
}

TEST_CASE("architecture: missing, unknown, no text") {
  TinyLlama m;
  refused(m.dropKey("general.architecture"),
          {"key 'general.architecture': missing", "expected a string",
           "--override-kv general.architecture=str:VALUE"});
  refused(m.text("general.architecture", "lla\x1b[2Jma"),
          {"found \"lla\\x1b[2Jma\"", "expected one of gemma3, llama",
           "docs/adding-an-architecture.md"});
  refused(m.key<uint32_t>("general.architecture", 7),
          {"key 'general.architecture': found the integer 7", "expected a string"});
}

TEST_CASE("a required key is missing") {
  for (const char *key : {"llama.embedding_length", "llama.context_length", "llama.block_count",
                          "llama.feed_forward_length", "llama.attention.head_count"})
    refused(TinyLlama().dropKey(key),
            {key, ": missing; expected an integer in 1..", flag(key, "u32").c_str()});
  const char *eps = "llama.attention.layer_norm_rms_epsilon";
  refused(TinyLlama().dropKey(eps),
          {eps, ": missing; expected a number in (0, 0.01]", flag(eps, "f32").c_str()});
}

TEST_CASE("head_count") {
  const char *key = "llama.attention.head_count";
  for (uint32_t bad : {0u, 0xffffffffu})
    refused(TinyLlama().key<uint32_t>(key, bad),
            {key, ("found " + std::to_string(bad)).c_str(), "expected an integer in 1..65536",
             flag(key, "u32").c_str()});
  refused(TinyLlama().key<uint32_t>(key, 3),
          {key, "found 3", "a divisor of embedding_length 64", flag(key, "u32").c_str()});
  refused(TinyLlama().key<float>(key, 4), {key, "found the float 4", "an integer in 1..65536"});
  refused(TinyLlama().key<bool>(key, true), {key, "found true", "an integer in 1..65536"});
  refused(TinyLlama().text(key, "4\n"), {key, "found \"4\\x0a\"", "an integer in 1..65536"});
  refused(TinyLlama().array(key, {4, 4, 4}), {key, "found 3 elements", "one for each of 2 layers"});
  refused(TinyLlama().array(key, {4, -4}), {key, "found -4", "an integer in 1..65536"});
  built(TinyLlama().array(key, {4, 4}));
}

TEST_CASE("head_count_kv") {
  const char *key = "llama.attention.head_count_kv";
  refused(TinyLlama().key<uint32_t>(key, 0), {key, "found 0", "an integer in 1..65536"});
  refused(TinyLlama().key<uint32_t>(key, 3), {key, "found 3", "a divisor of head_count 4"});
  refused(TinyLlama().array(key, {2, 3}), {key, "found 3", "a divisor of head_count 4"});
}

TEST_CASE("head sizes") {
  refused(TinyLlama()
              .key<uint32_t>("llama.attention.key_length", 16)
              .key<uint32_t>("llama.attention.value_length", 8),
          {"llama.attention.value_length", "found 8", "the key_length 16"});
  refused(TinyLlama().key<uint32_t>("llama.attention.key_length", 32),
          {"tensor 'blk.0.attn_q.weight' has shape [64, 64]; expected [128, 64]"});
}

TEST_CASE("block_count") {
  const char *key = "llama.block_count";
  for (uint32_t bad : {0u, 1000000000u})
    refused(TinyLlama().key<uint32_t>(key, bad),
            {key, ("found " + std::to_string(bad)).c_str(), "an integer in 1..1024",
             flag(key, "u32").c_str()});
  refused(TinyLlama().key<uint32_t>(key, 3),
          {"tensor 'blk.2.attn_norm.weight' is missing; expected shape [64]", "--override-kv"});
  refused(TinyLlama().key<uint32_t>(key, 1),
          {"tensor \"blk.1.attn_norm.weight\" is used by no part of 'llama'", "9 such tensors",
           "none expected", "'llama.block_count' says 1 layers", "--override-kv"});
}

TEST_CASE("embedding_length") {
  const char *key = "llama.embedding_length";
  refused(TinyLlama().key<uint32_t>(key, 0), {key, "found 0", "an integer in 1.."});
  refused(TinyLlama().key<uint32_t>(key, 128),
          {key, "found 128", "expected 64, the length of the rows of token_embd.weight",
           flag(key, "u32").c_str()});
  refused(TinyLlama().dropTensor("token_embd.weight"),
          {"tensor 'token_embd.weight' is missing", "expected a matrix", "get or convert"});
  refused(TinyLlama().tensor("token_embd.weight", {64}),
          {"tensor 'token_embd.weight' has shape [64]", "expected a matrix"});
}

TEST_CASE("context_length") {
  const char *key = "llama.context_length";
  refused(TinyLlama().key<uint32_t>(key, 0), {key, "found 0", "an integer in 1..2147483647"});
  built(TinyLlama().key<uint32_t>(key, 2000000000)); // a session takes only what it asks for
}

TEST_CASE("epsilon of the norms") {
  const char *key = "llama.attention.layer_norm_rms_epsilon";
  for (auto [bad, text] : {std::pair(NAN, "found nan"), std::pair(-1.0f, "found -1"),
                           std::pair(0.0f, "found 0"), std::pair(1.0f, "found 1")})
    refused(TinyLlama().key<float>(key, bad),
            {key, text, "expected a number in (0, 0.01]", flag(key, "f32").c_str()});
  refused(TinyLlama().key<uint32_t>(key, 1), {key, "found the integer 1", "(0, 0.01]"});
}

TEST_CASE("rope dimension_count") {
  const char *key = "llama.rope.dimension_count";
  for (uint32_t bad : {0u, 1000u})
    refused(TinyLlama().key<uint32_t>(key, bad), {key, ("found " + std::to_string(bad)).c_str(),
                                                  "an integer in 2..16", flag(key, "u32").c_str()});
  refused(TinyLlama().key<uint32_t>(key, 15), {key, "found 15", "expected an even number"});
}

TEST_CASE("rope base") {
  const char *key = "llama.rope.freq_base";
  for (auto [bad, text] : {std::pair(0.0f, "found 0"), std::pair(NAN, "found nan"),
                           std::pair(INFINITY, "found inf"), std::pair(-1e4f, "found -10000")})
    refused(TinyLlama().key<float>(key, bad),
            {key, text, "expected a number in (0, 1e+12]", flag(key, "f32").c_str()});
}

TEST_CASE("rope scaling") {
  const char *factor = "llama.rope.scaling.factor", *type = "llama.rope.scaling.type";
  for (auto [bad, text] : {std::pair(0.0f, "found 0"), std::pair(NAN, "found nan")})
    refused(TinyLlama().key<float>(factor, bad),
            {factor, text, "expected a number in (0, 1e+06]", flag(factor, "f32").c_str()});
  refused(TinyLlama().text(type, "ban\x07"
                                 "ana"),
          {type, "found \"ban\\x07ana\"", "expected none, linear, yarn or longrope",
           flag(type, "str").c_str()});
  refused(TinyLlama().text(type, "longrope"),
          {type, "no rope_factors_long.weight", flag(type, "str").c_str()});
}

TEST_CASE("factors of the rotation") {
  refused(TinyLlama().constant("rope_freqs.weight", {4}, 1),
          {"tensor 'rope_freqs.weight' has shape [4]; expected [8] from the metadata", "convert"});
  for (const char *name :
       {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"})
    for (auto [bad, text] : {std::pair(0.0f, "it is 0.0"), std::pair(-1.0f, "it is -1.0"),
                             std::pair(NAN, "it is nan"), std::pair(INFINITY, "it is inf")})
      refused(TinyLlama().constant(name, {8}, bad),
              {name, "element 0", text, "expected a finite number above 0", "get it again"});
  built(TinyLlama().constant("rope_freqs.weight", {8}, 1e30f)); // dimensions that do not rotate
}

TEST_CASE("tensors missing, extra, of another shape") {
  refused(TinyLlama().dropTensor("blk.1.ffn_up.weight"),
          {"tensor 'blk.1.ffn_up.weight' is missing; expected shape [96, 64]", "convert the file"});
  refused(
      TinyLlama().tensor("blk.1.ffn_up.weight", {64, 96}),
      {"tensor 'blk.1.ffn_up.weight' has shape [64, 96]; expected [96, 64]", "convert the file"});
  refused(TinyLlama().tensor("blk.1.ex\"tra.weight", {3}),
          {"tensor \"blk.1.ex\\\"tra.weight\" is used by no part of 'llama'", "1 such tensors",
           "convert the file"});
  GraphOptions lenient;
  lenient.allowUnusedTensors = true;
  Built graph = built(TinyLlama().tensor("extra.weight", {3}), lenient);
  CHECK(graph.report.unusedTensors == std::vector<std::string>{"extra.weight"});
}

TEST_CASE("a matrix written with a last dimension of 1") {
  Built graph = built(TinyLlama().tensor("blk.0.ffn_up.weight", {1, 96, 64}));
  CHECK(has(graph.text(), "vetro.weight @blk.0.ffn_up.weight : tensor<96x64xf32>"));
}

TEST_CASE("norm weights in other formats") {
  built(TinyLlama().tensor("blk.0.attn_norm.weight", {64}, Format::F16));
  built(TinyLlama().tensor("output_norm.weight", {64}, Format::BF16));
}

TEST_CASE("storage that no weight may have") {
  for (Format format : {Format::I32, Format::F64, Format::I8})
    for (const char *name : {"blk.0.ffn_up.weight", "blk.0.ffn_norm.weight"}) {
      std::vector<uint64_t> shape{96, 64};
      if (has(name, "norm"))
        shape = {64};
      refused(TinyLlama().tensor(name, shape, format),
              {name, (std::string("is stored as ") + formatInfo(format).name).c_str(),
               "expected f32, f16, bf16 or a quantised format", "convert the file again"});
    }
}

TEST_CASE("experts") {
  const char *count = "llama.expert_count", *used = "llama.expert_used_count";
  refused(TinyLlama().experts(4, 2).key<uint32_t>(count, 0xffffffff),
          {count, "found 4294967295", "an integer in 0..4096", flag(count, "u32").c_str()});
  for (uint32_t bad : {0u, 5u})
    refused(TinyLlama().experts(4, 2).key<uint32_t>(used, bad),
            {used, ("found " + std::to_string(bad)).c_str(), "an integer in 1..4",
             flag(used, "u32").c_str()});
  refused(TinyLlama().experts(4, 2).dropKey(used), {used, "missing", "an integer in 1..4"});
  refused(TinyLlama().key<uint32_t>(used, 2), {used, "found 2", "an integer in 0..0"});
  refused(TinyLlama().experts(4, 2).key<uint32_t>(count, 8),
          {"tensor 'blk.0.ffn_gate_inp.weight' has shape [4, 64]; expected [8, 64]"});
  refused(TinyLlama().key<uint32_t>(count, 4).key<uint32_t>(used, 2),
          {"tensor 'blk.0.ffn_gate_inp.weight' is missing; expected shape [4, 64]"});
}

TEST_CASE("vocab_size against the embedding") {
  Built graph = built(TinyLlama().key<uint32_t>("llama.vocab_size", 1000000000));
  REQUIRE(graph.report.warnings.size() == 1);
  CHECK(graph.report.warnings[0] == "key 'llama.vocab_size': found 1000000000, but "
                                    "token_embd.weight has 320 rows; the rows are used");
  refused(TinyLlama().tensor("output.weight", {319, 64}),
          {"tensor 'output.weight' has shape [319, 64]; expected [320, 64]"});
}

TEST_CASE("keys that nothing reads are reported") {
  Built graph = built(TinyLlama().key<uint32_t>("llama.mystery", 1));
  CHECK(graph.report.unusedKeys == std::vector<std::string>{"llama.mystery"});
}

/// Every tensor and key of a real file is used, or its absence is explained here.
static void usesAll(const std::string &path, const std::vector<std::string> &unusedKeys) {
  auto file = accepted(gguf::File::open(path));
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = importModule(&context, *file);
  REQUIRE(static_cast<bool>(module));
  auto report = buildGraph(**module, {});
  std::string message = report ? "" : llvm::toString(report.takeError());
  REQUIRE(message == "");
  CHECK(report->unusedTensors.empty());
  CHECK(report->unusedKeys == unusedKeys);
  CHECK(report->warnings.empty());
}

TEST_CASE("the real models are used whole") {
  for (const char *name : {"SmolLM2-135M-Instruct.Q4_1.gguf", "gemma-3-270m.Q4_K_M.gguf"}) {
    if (model(name).empty())
      skip(std::string("no ") + name + "; run ./bootstrap models");
    else
      usesAll(model(name), {});
  }
  if (dataDir().empty())
    skip("no folder of tiny models; set VETRO_TEST_DATA");
  else
    usesAll(dataDir() + "/stories260k/stories260K.gguf", {});
}
