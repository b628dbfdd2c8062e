// Tensors in a safetensors file: an 8-byte length, a JSON header, the data.
// Format: huggingface/safetensors, README "Format".
#pragma once

#include "llvm/Support/raw_ostream.h"
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

/// Writes the tensors as F32 and the metadata pairs.
void writeSafetensors(llvm::raw_ostream &out, const std::vector<NamedTensor> &tensors,
                      const std::vector<std::pair<std::string, std::string>> &metadata);

} // namespace vetro
