// The value types of GGUF metadata and all known tensor types, with those that Vetro does not
// compute with: a container may hold them, and messages name them.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace vetro::gguf {

/// Types of metadata values, with their ids in the file.
enum class ValueType : uint32_t {
  U8 = 0,
  I8 = 1,
  U16 = 2,
  I16 = 3,
  U32 = 4,
  I32 = 5,
  F32 = 6,
  Bool = 7,
  String = 8,
  Array = 9,
  U64 = 10,
  I64 = 11,
  F64 = 12,
};
inline constexpr uint32_t numValueTypes = 13;

/// "u32", "str", "arr" ...
llvm::StringRef valueTypeName(ValueType type);

/// The type with this name, or nothing.
std::optional<ValueType> valueTypeByName(llvm::StringRef name);

/// Bytes of one value in the file; 0 for strings and arrays, whose size varies.
unsigned valueTypeSize(ValueType type);

/// Whether the type is one of the eight integer types (bool is not).
bool isInteger(ValueType type);

/// Whether the type is f32 or f64.
bool isFloat(ValueType type);

/// How a tensor type is stored.
struct TensorType {
  llvm::StringRef name; ///< lower case: "iq2_xxs"
  unsigned blockLen;    ///< elements per block
  unsigned blockBytes;  ///< bytes per block
  bool supported;       ///< in Format.def
};

/// The tensor type with this id; nothing where it is unknown or was removed from GGUF.
std::optional<TensorType> tensorType(uint32_t id);

/// Name of a type that GGUF once had ("q4_2"); empty for all other ids.
llvm::StringRef removedTensorType(uint32_t id);

} // namespace vetro::gguf
