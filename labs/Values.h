// Tensors in memory, read as those of a file are.
#pragma once

#include "runtime/trace/TensorFile.h"

namespace vetro::labs {

/// A file of these tensors that lies nowhere; it keeps a copy of their numbers.
std::unique_ptr<TensorFile> fileOf(llvm::ArrayRef<NamedTensor> tensors);

/// Values that are the same for the same seed: whole numbers from -9 to 9, so that sums of products
/// are exact. shape: of the tensor.
NamedTensor smallIntegers(llvm::StringRef name, std::vector<int64_t> shape, uint64_t seed);

/// Writes tensors with metadata as safetensors. Error: the file cannot be written.
llvm::Error writeTensors(llvm::StringRef path, const std::vector<NamedTensor> &tensors,
                         const std::vector<std::pair<std::string, std::string>> &metadata = {});

} // namespace vetro::labs
