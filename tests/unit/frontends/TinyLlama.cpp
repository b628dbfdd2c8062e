#include "tests/unit/frontends/TinyLlama.h"
#include "frontends/Import.h"
#include "tests/unit/gguf/TinyGguf.h"

#include <cmath>
#include <cstring>

namespace vetro::test {

static std::string layer(unsigned i, const char *suffix) {
  return "blk." + std::to_string(i) + "." + suffix + ".weight";
}

static void addKeys(TinyLlama &m, unsigned layers) {
  m.text("general.architecture", "llama");
  m.key<uint32_t>("llama.context_length", 128);
  m.key<uint32_t>("llama.embedding_length", 64);
  m.key<uint32_t>("llama.block_count", layers);
  m.key<uint32_t>("llama.feed_forward_length", 96);
  m.key<uint32_t>("llama.attention.head_count", 4);
  m.key<uint32_t>("llama.attention.head_count_kv", 2);
  m.key<float>("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  m.key<uint32_t>("llama.rope.dimension_count", 16);
  m.key<float>("llama.rope.freq_base", 10000.0f);
}

TinyLlama::TinyLlama(unsigned layers) : nLayer(layers) {
  addKeys(*this, layers);
  tensor("token_embd.weight", {320, 64});
  for (unsigned i = 0; i < layers; ++i) {
    tensor(layer(i, "attn_norm"), {64});
    tensor(layer(i, "attn_q"), {64, 64});
    tensor(layer(i, "attn_k"), {32, 64});
    tensor(layer(i, "attn_v"), {32, 64});
    tensor(layer(i, "attn_output"), {64, 64});
    tensor(layer(i, "ffn_norm"), {64});
    tensor(layer(i, "ffn_gate"), {96, 64});
    tensor(layer(i, "ffn_up"), {96, 64});
    tensor(layer(i, "ffn_down"), {64, 96});
  }
  tensor("output_norm.weight", {64});
  tensor("output.weight", {320, 64});
}

TinyLlama &TinyLlama::put(const std::string &name, Add add) {
  for (auto &[known, value] : keys)
    if (known == name)
      return value = std::move(add), *this;
  keys.push_back({name, std::move(add)});
  return *this;
}

TinyLlama &TinyLlama::vocabulary() {
  enum { Normal = 1, Unknown = 2, Control = 3, Byte = 6 };
  std::vector<std::string> tokens{"<unk>", "<s>", "</s>"};
  std::vector<int32_t> types{Unknown, Control, Control};
  for (unsigned byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof(text), "<0x%02X>", byte);
    tokens.push_back(text), types.push_back(Byte);
  }
  while (tokens.size() < 320)
    tokens.push_back("word" + std::to_string(tokens.size())), types.push_back(Normal);
  std::vector<float> scores(tokens.size());
  text("tokenizer.ggml.model", "llama");
  put("tokenizer.ggml.tokens", [=](gguf::Writer &w) {
    w.addStrings("tokenizer.ggml.tokens", llvm::ArrayRef<std::string>(tokens));
  });
  put("tokenizer.ggml.scores",
      [=](gguf::Writer &w) { w.addArray<float>("tokenizer.ggml.scores", scores); });
  array("tokenizer.ggml.token_type", types);
  key<uint32_t>("tokenizer.ggml.unknown_token_id", 0);
  key<uint32_t>("tokenizer.ggml.bos_token_id", 1);
  return key<uint32_t>("tokenizer.ggml.eos_token_id", 2);
}

TinyLlama &TinyLlama::dropKey(const std::string &name) {
  std::erase_if(keys, [&](const auto &k) { return k.first == name; });
  return *this;
}

TinyLlama &TinyLlama::put(Tensor fresh) {
  for (Tensor &known : tensors)
    if (known.name == fresh.name)
      return known = std::move(fresh), *this;
  tensors.push_back(std::move(fresh));
  return *this;
}

TinyLlama &TinyLlama::dropTensor(const std::string &name) {
  std::erase_if(tensors, [&](const Tensor &t) { return t.name == name; });
  return *this;
}

static uint64_t product(const std::vector<uint64_t> &shape) {
  uint64_t n = 1;
  for (uint64_t d : shape)
    n *= d;
  return n;
}

TinyLlama &TinyLlama::constant(const std::string &name, std::vector<uint64_t> shape, float value) {
  std::vector<float> numbers(product(shape), value);
  auto *bytes = reinterpret_cast<const uint8_t *>(numbers.data());
  return put({name, Format::F32, shape, {bytes, bytes + numbers.size() * sizeof(float)}});
}

TinyLlama &TinyLlama::element(const std::string &name, uint64_t index, float value) {
  for (Tensor &t : tensors)
    if (t.name == name)
      std::memcpy(&t.data[index * sizeof(float)], &value, sizeof(float));
  return *this;
}

TinyLlama &TinyLlama::tensor(const std::string &name, std::vector<uint64_t> shape, Format format) {
  uint64_t state = std::hash<std::string>()(name) | 1, n = product(shape);
  auto random = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return uint32_t(state >> 33);
  };
  if (format == Format::F32) {
    std::vector<float> numbers(n);
    for (float &v : numbers) // norms around 1, matrices around 0
      v = shape.size() == 1 ? 0.75f + float(random() % 512) / 1024
                            : (float(random() % 2048) - 1024) / 4096;
    auto *bytes = reinterpret_cast<const uint8_t *>(numbers.data());
    return put({name, format, shape, {bytes, bytes + n * sizeof(float)}});
  }
  std::vector<uint8_t> bytes(rowBytes(format, n));
  for (uint8_t &byte : bytes)
    byte = uint8_t(random());
  for (uint64_t at = 0; formatInfo(format).blockLen > 1 && at < bytes.size();
       at += formatInfo(format).blockBytes)
    bytes[at] = 0x00, bytes[at + 1] = 0x18; // the scale: 2^-9 in F16
  if (format == Format::F16)
    for (uint64_t at = 1; at < bytes.size(); at += 2)
      bytes[at] = 0x38 | (bytes[at] & 3); // from 0.5 on
  return put({name, format, shape, std::move(bytes)});
}

TinyLlama &TinyLlama::experts(unsigned experts, unsigned used, uint64_t width, Format format) {
  key<uint32_t>("llama.expert_count", experts);
  key<uint32_t>("llama.expert_used_count", used);
  key<uint32_t>("llama.feed_forward_length", uint32_t(width));
  for (unsigned i = 0; i < nLayer; ++i) {
    for (const char *dense : {"ffn_gate", "ffn_up", "ffn_down"})
      dropTensor(layer(i, dense));
    tensor(layer(i, "ffn_gate_inp"), {experts, 64});
    tensor(layer(i, "ffn_gate_exps"), {experts, width, 64}, format);
    tensor(layer(i, "ffn_up_exps"), {experts, width, 64}, format);
    tensor(layer(i, "ffn_down_exps"), {experts, 64, width}, format);
  }
  return *this;
}

std::string TinyLlama::bytes() const {
  gguf::Writer writer;
  for (const auto &[name, add] : keys)
    add(writer);
  for (const Tensor &t : tensors) {
    std::vector<uint64_t> ne(t.shape.rbegin(), t.shape.rend());
    writer.addTensor(t.name, t.format, ne, t.data);
  }
  return bytesOf(writer);
}

static llvm::Expected<Built> build(const TinyLlama &file, const GraphOptions &options) {
  auto opened = openBytes(file.bytes());
  if (!opened)
    return opened.takeError();
  Built graph;
  graph.context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  auto module = importModule(graph.context.get(), **opened);
  if (!module)
    return module.takeError();
  graph.module = std::move(*module);
  auto report = buildGraph(*graph.module, options);
  if (!report)
    return report.takeError();
  graph.report = std::move(*report);
  return graph;
}

std::string Built::text() const {
  std::string out;
  llvm::raw_string_ostream os(out);
  mlir::ModuleOp(*module).print(os, mlir::OpPrintingFlags().enableDebugInfo());
  return out;
}

Built built(const TinyLlama &file, const GraphOptions &options) {
  auto graph = build(file, options);
  std::string message = graph ? "" : llvm::toString(graph.takeError());
  REQUIRE(message == "");
  return std::move(*graph);
}

std::string refusal(const TinyLlama &file, const GraphOptions &options) {
  auto graph = build(file, options);
  REQUIRE_FALSE(static_cast<bool>(graph));
  std::string message = llvm::toString(graph.takeError());
  for (unsigned char c : message)
    CHECK((c >= 0x20 && c < 0x7f));
  return message;
}

} // namespace vetro::test
