// Tensors in a safetensors file: an 8-byte length, a JSON header, the data.
// Format: huggingface/safetensors, README "Format".
#pragma once

#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace vetro {

/// A named f32 tensor, row-major.
struct NamedTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> data;
};

/// Writes the tensors as F32 and the metadata pairs; the file is complete or not there.
/// Error: the file cannot be written.
llvm::Error writeSafetensors(llvm::StringRef path, const std::vector<NamedTensor> &tensors,
                             const std::vector<std::pair<std::string, std::string>> &metadata);

} // namespace vetro
