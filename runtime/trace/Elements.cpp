// Numbers of all types, widened to F32.
#include "runtime/trace/Elements.h"
#include "runtime/abi/Float.h"

#include "llvm/ADT/STLExtras.h"
#include <cstdint>
#include <cstring>

namespace vetro {
namespace {

template <typename T> float number(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return static_cast<float>(value);
}
float half(const char *at) {
  uint16_t bits;
  std::memcpy(&bits, at, 2);
  return f16ToFloat(bits);
}
float brain(const char *at) {
  uint16_t bits;
  std::memcpy(&bits, at, 2);
  return bf16ToFloat(bits);
}

constexpr ElementType elementTypes[] = {
    {"F32", 4, number<float>},    {"F64", 8, number<double>},   {"F16", 2, half},
    {"BF16", 2, brain},           {"I64", 8, number<int64_t>},  {"I32", 4, number<int32_t>},
    {"I16", 2, number<int16_t>},  {"I8", 1, number<int8_t>},    {"U64", 8, number<uint64_t>},
    {"U32", 4, number<uint32_t>}, {"U16", 2, number<uint16_t>}, {"U8", 1, number<uint8_t>},
    {"BOOL", 1, number<uint8_t>}};

} // namespace

const ElementType *findElementType(llvm::StringRef name) {
  auto found = llvm::find_if(elementTypes, [&](const ElementType &t) { return name == t.name; });
  return found == std::end(elementTypes) ? nullptr : found;
}

} // namespace vetro
