// The model that is part of the program: where a path is asked for, its name opens it.
#pragma once
#include "frontends/gguf/Gguf.h"

namespace vetro {

/// What names the built-in model.
inline constexpr llvm::StringLiteral builtinName = "tiny";

/// The bytes of labs/model/vetro-tiny.gguf, aligned to 64, in the program's read-only data.
llvm::ArrayRef<uint8_t> builtinModel();

/// Where `path` is the built-in model's name, makes File::open(path, open) open that model; any
/// other path is left alone. Error: there is a file of this name too, so that either could be
/// meant.
llvm::Error useBuiltin(llvm::StringRef path, gguf::OpenOptions &open);

} // namespace vetro
