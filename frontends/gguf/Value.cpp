// Typed access to metadata values, and their text for people.
#include "frontends/gguf/Value.h"
#include "frontends/gguf/GgufError.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

namespace vetro::gguf {

static_assert(std::endian::native == std::endian::little, "GGUF numbers are little-endian");

Value Value::scalar(ValueType type, uint64_t bits) {
  Value value;
  value.type_ = value.element_ = type;
  value.bits_ = bits;
  return value;
}

Value Value::string(llvm::StringRef text) {
  Value value = scalar(ValueType::String, text.size());
  value.data_ = text.bytes_begin();
  return value;
}

Value Value::numbers(ValueType element, const uint8_t *data, uint64_t count) {
  Value value = scalar(ValueType::Array, 0);
  value.element_ = element;
  value.count_ = count;
  value.data_ = data;
  return value;
}

Value Value::strings(const uint8_t *base, std::vector<uint32_t> starts) {
  Value value = numbers(ValueType::String, base, starts.size());
  value.starts_ = std::move(starts);
  return value;
}

std::string Value::typeName() const {
  if (!isArray())
    return valueTypeName(type_).str();
  return ("arr[" + valueTypeName(element_) + "," + llvm::Twine(count_) + "]").str();
}

/// The integer with these bits as int64; nothing for other types and for u64 past the range.
static std::optional<int64_t> intFromBits(ValueType type, uint64_t bits) {
  switch (type) {
  case ValueType::I8:
    return static_cast<int8_t>(bits);
  case ValueType::I16:
    return static_cast<int16_t>(bits);
  case ValueType::I32:
    return static_cast<int32_t>(bits);
  case ValueType::U64:
    if (bits > static_cast<uint64_t>(INT64_MAX))
      return std::nullopt;
    return static_cast<int64_t>(bits);
  case ValueType::U8:
  case ValueType::U16:
  case ValueType::U32:
  case ValueType::I64:
    return static_cast<int64_t>(bits);
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> Value::asInt() const { return intFromBits(type_, bits_); }

std::optional<uint64_t> Value::asUInt() const {
  if (type_ == ValueType::U64)
    return bits_;
  std::optional<int64_t> value = asInt();
  if (!value || *value < 0)
    return std::nullopt;
  return static_cast<uint64_t>(*value);
}

std::optional<double> Value::asFloat() const {
  if (type_ == ValueType::F32)
    return std::bit_cast<float>(static_cast<uint32_t>(bits_));
  if (type_ == ValueType::F64)
    return std::bit_cast<double>(bits_);
  return std::nullopt;
}

std::optional<bool> Value::asBool() const {
  if (type_ != ValueType::Bool)
    return std::nullopt;
  return bits_ != 0;
}

std::optional<llvm::StringRef> Value::asString() const {
  if (type_ != ValueType::String)
    return std::nullopt;
  return llvm::StringRef(reinterpret_cast<const char *>(data_), bits_);
}

std::optional<StringArray> Value::asStrings() const {
  if (!isArray() || element_ != ValueType::String)
    return std::nullopt;
  return StringArray(data_, starts_);
}

llvm::ArrayRef<uint8_t> Value::rawBytes() const {
  unsigned size = valueTypeSize(element_);
  if (isArray())
    return {data_, count_ * size};
  return {reinterpret_cast<const uint8_t *>(&bits_), size};
}

uint64_t Value::elementBits(uint64_t i) const {
  unsigned size = valueTypeSize(element_);
  uint64_t bits = 0;
  std::memcpy(&bits, data_ + i * size, size);
  return bits;
}

std::optional<std::vector<int64_t>> Value::asInts(uint64_t maxCount) const {
  bool bools = element_ == ValueType::Bool;
  if (!isArray() || !(isInteger(element_) || bools) || count_ > maxCount)
    return std::nullopt;
  std::vector<int64_t> values(count_);
  for (uint64_t i = 0; i < count_; ++i) {
    auto value = intFromBits(bools ? ValueType::U8 : element_, elementBits(i));
    if (!value)
      return std::nullopt;
    values[i] = *value;
  }
  return values;
}

/// Prints a value that is no array.
static void printScalar(llvm::raw_ostream &os, const Value &value, bool whole) {
  if (auto text = value.asString())
    os << (whole ? escaped(*text, SIZE_MAX) : escaped(*text));
  else if (auto flag = value.asBool())
    os << (*flag ? "true" : "false");
  else if (value.type() == ValueType::F32)
    os << llvm::format("%.9g", *value.asFloat());
  else if (auto number = value.asFloat())
    os << llvm::format("%.17g", *number);
  else if (auto positive = value.asUInt())
    os << *positive;
  else
    os << value.asInt().value_or(0);
}

std::string Value::toText(size_t maxElements) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  bool whole = maxElements == SIZE_MAX;
  if (!isArray()) {
    printScalar(os, *this, whole);
    return text;
  }
  uint64_t shown = std::min<uint64_t>(count_, maxElements);
  os << '[';
  for (uint64_t i = 0; i < shown; ++i) {
    os << (i ? ", " : "");
    printScalar(os,
                element_ == ValueType::String ? Value::string((*asStrings())[i])
                                              : Value::scalar(element_, elementBits(i)),
                whole);
  }
  if (shown < count_)
    os << (shown ? ", ... " : "... ") << count_ - shown << " more";
  os << ']';
  return text;
}

} // namespace vetro::gguf
