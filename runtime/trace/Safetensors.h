// Tensors in a safetensors file: an 8-byte length, a JSON header, the data.
// Format: huggingface/safetensors, README "Format".
#pragma once

#include "llvm/ADT/ArrayRef.h"
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

/// A tensor of any type, its numbers as they lie in a file.
struct RawTensor {
  std::string name, dtype; ///< "U8"
  std::vector<int64_t> shape;
  llvm::StringRef bytes; ///< as many as type and shape say
};

/// Writes the tensors and the metadata pairs.
void writeRawSafetensors(llvm::raw_ostream &out, llvm::ArrayRef<RawTensor> tensors,
                         const std::vector<std::pair<std::string, std::string>> &metadata);
/// The same of F32 tensors.
void writeSafetensors(llvm::raw_ostream &out, const std::vector<NamedTensor> &tensors,
                      const std::vector<std::pair<std::string, std::string>> &metadata);

} // namespace vetro
