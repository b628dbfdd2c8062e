// The tokenizer of a model file.
#pragma once

#include "frontends/gguf/Gguf.h"
#include "runtime/tokenizer/Tokenizer.h"

namespace vetro {

/// Reads the keys `tokenizer.ggml.*`. Error: a key of another type, or what the tokenizer refuses.
llvm::Expected<std::unique_ptr<Tokenizer>> loadTokenizer(const gguf::File &file);

} // namespace vetro
