// Types of numbers in files of tensors, under safetensors' names.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace vetro {

struct ElementType {
  const char *name; ///< "BF16"
  unsigned bytes;
  float (*toFloat)(const char *); ///< of one number, little-endian
};

/// Null: no such type. Known are F64 F32 F16 BF16, I8 to I64, U8 to U64 and BOOL.
const ElementType *findElementType(llvm::StringRef name);

} // namespace vetro
