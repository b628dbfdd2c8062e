// A model in smaller formats: every key and tensor of a file, its weights encoded anew.
#pragma once
#include "frontends/gguf/FileType.h"
#include "frontends/gguf/Gguf.h"

namespace vetro::gguf {

/// Writes `file` to `path` with the formats that formatOf() gives each tensor; a tensor that has
/// its format already is copied. Memory grows with a tensor's row, not with the file. Errors: a
/// tensor in a format that dequantizeRow() does not know, a failed write; `path` is then as it was.
/// `progress` (may be null) gets the fraction of values written.
llvm::Error quantize(const File &file, const FileType &type, llvm::StringRef path,
                     llvm::function_ref<void(double fraction)> progress = nullptr);

} // namespace vetro::gguf
