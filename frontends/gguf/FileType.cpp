// The table of file types. Names, ids and mixes: ggml-org/llama.cpp, include/llama.h and
// src/llama-quant.cpp.
#include "frontends/gguf/FileType.h"
#include "frontends/gguf/GgufError.h"
#include "llvm/ADT/StringExtras.h"

namespace vetro::gguf {

using llvm::StringRef;

static constexpr FileType fileTypes[] = {
    {"F32", 0, Format::F32},        {"F16", 1, Format::F16},      {"Q4_0", 2, Format::Q4_0},
    {"Q4_1", 3, Format::Q4_1},      {"Q8_0", 7, Format::Q8_0},    {"Q5_0", 8, Format::Q5_0},
    {"Q5_1", 9, Format::Q5_1},      {"Q2_K", 10, Format::Q2_K},   {"Q3_K", 11, Format::Q3_K},
    {"Q3_K_M", 12, Format::Q3_K},   {"Q3_K_L", 13, Format::Q3_K}, {"Q4_K", 14, Format::Q4_K},
    {"Q4_K_S", 14, Format::Q4_K},   {"Q4_K_M", 15, Format::Q4_K}, {"Q5_K", 16, Format::Q5_K},
    {"Q5_K_S", 16, Format::Q5_K},   {"Q5_K_M", 17, Format::Q5_K}, {"Q6_K", 18, Format::Q6_K},
    {"IQ4_NL", 25, Format::IQ4_NL}, {"BF16", 32, Format::BF16},
};

std::vector<StringRef> fileTypeNames() {
  std::vector<StringRef> names;
  for (const FileType &type : fileTypes)
    names.push_back(type.name);
  return names;
}

llvm::Expected<const FileType *> fileTypeByName(StringRef name) {
  for (const FileType &type : fileTypes)
    if (type.name.equals_insensitive(name))
      return &type;
  return llvm::createStringError("unknown file type " + escaped(name) +
                                 "; known: " + llvm::join(fileTypeNames(), ", "));
}

/// Layer number of "blk.N.suffix"; the suffix is left in `name`.
static int64_t consumeLayer(StringRef &name) {
  int64_t layer = 0;
  if (name.consume_front("blk.") && !name.consumeInteger(10, layer))
    name.consume_front(".");
  return layer;
}

/// The first and last eighth of the layers and every third between.
static bool isSensitive(int64_t layer, int64_t n) {
  return layer < n / 8 || layer >= 7 * n / 8 || (layer - n / 8) % 3 == 2;
}

/// Exceptions of the mixes; the base format where there is none.
static Format mixed(const FileType &type, StringRef suffix, int64_t layer, int64_t n) {
  bool v = suffix == "attn_v.weight" || suffix == "attn_qkv.weight";
  bool down = suffix.starts_with("ffn_down"), out = suffix == "attn_output.weight";
  if (type.name == "Q4_K_M" || type.name == "Q5_K_M")
    return (v || down) && isSensitive(layer, n) ? Format::Q6_K : type.base;
  if (type.name == "Q4_K_S")
    return (v && layer < 4) || (down && layer < n / 8) ? Format::Q5_K : type.base;
  if (type.name == "Q3_K_M") {
    if (v)
      return layer < 2 ? Format::Q5_K : Format::Q4_K;
    if (down)
      return layer < n / 16 ? Format::Q5_K : Format::Q4_K;
    return out ? Format::Q4_K : type.base;
  }
  if (type.name == "Q3_K_L")
    return v || down || out ? Format::Q5_K : type.base;
  return type.base;
}

/// A format whose blocks divide rows of `n` values.
static Format fallback(Format format, int64_t n) {
  if (n % formatInfo(format).blockLen == 0)
    return format;
  if (n % 32 != 0)
    return Format::F16;
  switch (format) {
  case Format::Q4_K:
    return Format::Q5_0;
  case Format::Q5_K:
    return Format::Q5_1;
  case Format::Q6_K:
    return Format::Q8_0;
  default:
    return Format::Q4_0;
  }
}

Format formatOf(const FileType &type, const TensorRole &tensor) {
  StringRef suffix = tensor.name;
  int64_t layer = consumeLayer(suffix);
  if (tensor.shape.size() < 2 || suffix.starts_with("ffn_gate_inp"))
    return Format::F32;
  bool isMix = type.name.count('_') == 2;
  bool head = suffix == "output.weight" || tensor.isHead;
  Format format = isMix && head ? Format::Q6_K : mixed(type, suffix, layer, tensor.nLayers);
  return fallback(format, tensor.shape.back());
}

} // namespace vetro::gguf
