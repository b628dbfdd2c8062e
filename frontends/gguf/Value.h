// One metadata value: a number, a bool, a string, or an array of those. Strings and arrays are
// views into the header bytes that the file keeps alive.
#pragma once
#include "frontends/gguf/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include <bit>
#include <cstring>
#include <string>
#include <vector>

namespace vetro::gguf {

/// An array of strings as it lies in the file: each is a u64 length and its bytes. Four bytes of
/// index a string, so that a vocabulary of 262,144 tokens opens in about a millisecond.
class StringArray {
public:
  StringArray() = default;
  /// `base` is the first string's length field; `starts` are offsets from it. Both must outlive
  /// the view.
  StringArray(const uint8_t *base, llvm::ArrayRef<uint32_t> starts)
      : base_(base), starts_(starts) {}

  size_t size() const { return starts_.size(); }
  bool empty() const { return starts_.empty(); }
  /// String `i`, i < size().
  llvm::StringRef operator[](size_t i) const {
    const uint8_t *at = base_ + starts_[i];
    uint64_t length;
    std::memcpy(&length, at, sizeof(length));
    return {reinterpret_cast<const char *>(at + sizeof(length)), length};
  }

  class Iterator {
  public:
    Iterator(const StringArray &array, size_t i) : array_(&array), i_(i) {}
    llvm::StringRef operator*() const { return (*array_)[i_]; }
    Iterator &operator++() {
      ++i_;
      return *this;
    }
    bool operator==(const Iterator &other) const { return i_ == other.i_; }

  private:
    const StringArray *array_;
    size_t i_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

private:
  const uint8_t *base_ = nullptr;
  llvm::ArrayRef<uint32_t> starts_;
};

class Value {
public:
  Value() = default;
  /// A number or bool; `bits` holds its bytes in the low end (f32 1.0 is 0x3f800000).
  static Value scalar(ValueType type, uint64_t bits);
  /// A string; `text` must outlive the value.
  static Value string(llvm::StringRef text);
  /// An array of `count` numbers or bools at `data` (any alignment), which must outlive the value.
  static Value numbers(ValueType element, const uint8_t *data, uint64_t count);
  /// An array of strings, see StringArray; `base` must outlive the value.
  static Value strings(const uint8_t *base, std::vector<uint32_t> starts);

  ValueType type() const { return type_; }
  bool isArray() const { return type_ == ValueType::Array; }
  /// Type of an array's elements; type() for all else.
  ValueType elementType() const { return element_; }
  /// Elements of an array; 1 for all else.
  uint64_t size() const { return count_; }
  /// "u32", "arr[str,49152]".
  std::string typeName() const;

  /// Accessors: nothing where the value is of another kind or does not fit.
  /// A non-negative integer of any integer type.
  std::optional<uint64_t> asUInt() const;
  /// An integer of any integer type that fits.
  std::optional<int64_t> asInt() const;
  /// f32 or f64.
  std::optional<double> asFloat() const;
  std::optional<bool> asBool() const;
  std::optional<llvm::StringRef> asString() const;
  std::optional<StringArray> asStrings() const;

  /// Whether the value has exactly the GGUF type of T (uint8_t ... double, bool, llvm::StringRef).
  template <typename T> bool is() const { return type_ == typeOf<T>(); }
  /// The value as exactly T; nothing where its type is another.
  template <typename T> std::optional<T> as() const;
  /// The array as exactly T's (numbers or bool), copied; nothing where its type is another.
  template <typename T> std::optional<std::vector<T>> asArray() const;
  /// An array of integers of any type, or of bools, each as int64; nothing where it is another
  /// kind, an element does not fit, or there are more than `maxCount`: the copy may be eight times
  /// as large as the array in the file.
  std::optional<std::vector<int64_t>> asInts(uint64_t maxCount = 1 << 22) const;

  /// The bytes of a number, bool, or array of those, as in the file; empty for strings.
  llvm::ArrayRef<uint8_t> rawBytes() const;
  /// The value as text for people: strings escaped, at most `maxElements` elements of an array;
  /// with SIZE_MAX all of everything, else the first 80 bytes of each string.
  std::string toText(size_t maxElements = 8) const;

  template <typename T> static constexpr ValueType typeOf();

private:
  /// The bits of element `i` of a number array, zero-extended.
  uint64_t elementBits(uint64_t i) const;

  ValueType type_ = ValueType::U8, element_ = ValueType::U8;
  uint64_t count_ = 1, bits_ = 0;
  const uint8_t *data_ = nullptr; ///< string bytes or array elements; must outlive the value
  std::vector<uint32_t> starts_;
};

template <typename T> constexpr ValueType Value::typeOf() {
  if constexpr (std::is_same_v<T, bool>)
    return ValueType::Bool;
  else if constexpr (std::is_same_v<T, llvm::StringRef>)
    return ValueType::String;
  else if constexpr (std::is_same_v<T, float>)
    return ValueType::F32;
  else if constexpr (std::is_same_v<T, double>)
    return ValueType::F64;
  else if constexpr (sizeof(T) == 8)
    return std::is_signed_v<T> ? ValueType::I64 : ValueType::U64;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? ValueType::I32 : ValueType::U32;
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? ValueType::I16 : ValueType::U16;
  else
    return std::is_signed_v<T> ? ValueType::I8 : ValueType::U8;
}

template <typename T> std::optional<T> Value::as() const {
  if (!is<T>())
    return std::nullopt;
  if constexpr (std::is_same_v<T, llvm::StringRef>) {
    return asString();
  } else {
    T value;
    std::memcpy(&value, &bits_, sizeof(T));
    return value;
  }
}

template <typename T> std::optional<std::vector<T>> Value::asArray() const {
  if (!isArray() || element_ != typeOf<T>())
    return std::nullopt;
  std::vector<T> values(count_);
  if constexpr (std::is_same_v<T, bool>) {
    for (uint64_t i = 0; i < count_; ++i)
      values[i] = data_[i] != 0;
  } else if (count_ != 0) {
    std::memcpy(values.data(), data_, count_ * sizeof(T));
  }
  return values;
}

} // namespace vetro::gguf
