// Tables of value and tensor types. Source: the GGUF specification (ggml-org/ggml, docs/gguf.md)
// and the block structures of ggml.
#include "frontends/gguf/Types.h"
#include "runtime/abi/Format.h"
#include "llvm/ADT/STLExtras.h"

namespace vetro::gguf {

static constexpr const char *valueNames[numValueTypes] = {
    "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "str", "arr", "u64", "i64", "f64"};
static constexpr unsigned valueSizes[numValueTypes] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

llvm::StringRef valueTypeName(ValueType type) { return valueNames[static_cast<uint32_t>(type)]; }

std::optional<ValueType> valueTypeByName(llvm::StringRef name) {
  const auto *it = llvm::find(valueNames, name);
  if (it == std::end(valueNames))
    return std::nullopt;
  return static_cast<ValueType>(it - std::begin(valueNames));
}

unsigned valueTypeSize(ValueType type) { return valueSizes[static_cast<uint32_t>(type)]; }

bool isInteger(ValueType type) {
  return type <= ValueType::I32 || type == ValueType::U64 || type == ValueType::I64;
}

bool isFloat(ValueType type) { return type == ValueType::F32 || type == ValueType::F64; }

namespace {
struct OtherType {
  uint32_t id;
  const char *name;
  unsigned blockLen, blockBytes;
};
struct RemovedType {
  uint32_t id;
  const char *name;
};
} // namespace

/// Known to GGUF and not in Format.def.
static constexpr OtherType otherTypes[] = {
    {9, "q8_1", 32, 36},     {15, "q8_K", 256, 292},   {16, "iq2_xxs", 256, 66},
    {17, "iq2_xs", 256, 74}, {18, "iq3_xxs", 256, 98}, {19, "iq1_s", 256, 50},
    {21, "iq3_s", 256, 110}, {22, "iq2_s", 256, 82},   {23, "iq4_xs", 256, 136},
    {29, "iq1_m", 256, 56},  {34, "tq1_0", 256, 54},   {35, "tq2_0", 256, 66},
    {39, "mxfp4", 32, 17},   {40, "nvfp4", 64, 36},    {41, "q1_0", 128, 18},
    {42, "q2_0", 64, 18},
};

static constexpr RemovedType removedTypes[] = {
    {4, "q4_2"},      {5, "q4_3"},        {31, "q4_0_4_4"},   {32, "q4_0_4_8"},
    {33, "q4_0_8_8"}, {36, "iq4_nl_4_4"}, {37, "iq4_nl_4_8"}, {38, "iq4_nl_8_8"},
};

std::optional<TensorType> tensorType(uint32_t id) {
  if (const FormatInfo *info = formatByGgufId(id))
    return TensorType{info->name, info->blockLen, info->blockBytes, true};
  for (const OtherType &type : otherTypes)
    if (type.id == id)
      return TensorType{type.name, type.blockLen, type.blockBytes, false};
  return std::nullopt;
}

llvm::StringRef removedTensorType(uint32_t id) {
  for (const RemovedType &type : removedTypes)
    if (type.id == id)
      return type.name;
  return {};
}

} // namespace vetro::gguf
