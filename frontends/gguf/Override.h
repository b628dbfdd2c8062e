// KEY=TYPE:VALUE, the user's word against the file's metadata.
#pragma once
#include "frontends/gguf/Gguf.h"

namespace vetro::gguf {

/// What an override says.
struct Override {
  std::string key;
  Value value; ///< a string's text is in `text`
  std::unique_ptr<std::string> text;
};

/// Parses `spec`. TYPE is u8 ... f64, bool, str, or `int` and `float`, which take the type that
/// `existing` (the file's value, found by the caller; null where there is none) has. Errors: no
/// KEY=TYPE:VALUE, unknown type, a value that is none of that type, a key that describes the file.
llvm::Expected<Override> parseOverride(llvm::StringRef spec,
                                       llvm::function_ref<const Value *(llvm::StringRef)> find);

} // namespace vetro::gguf
