// Named tensors of a file or a folder, read one at a time: what a comparison reads.
#pragma once

#include "runtime/trace/Safetensors.h"
#include "runtime/trace/TensorTable.h"

#include "llvm/ADT/StringMap.h"

namespace vetro {

class TensorFile {
public:
  /// Opens a file by what it holds, whatever its name: safetensors, NumPy's .npy and .npz, logits
  /// that llama.cpp saved; or a folder of .npy files, or the tree of files that transformers'
  /// model_addition_debugger_context writes. No pickle is ever read. Everything that the file says
  /// of itself is checked before it is believed. Error: one line with the path and what is wrong.
  static llvm::Expected<std::unique_ptr<TensorFile>> open(llvm::StringRef path);
  /// Of entries that a reader found.
  static std::unique_ptr<TensorFile> of(llvm::StringRef path, TensorTable table);

  const std::string &path() const { return name; }
  /// Of safetensors in the order of their data, which is that of computation in our dumps.
  const std::vector<TensorEntry> &entries() const { return table.entries; }
  /// Null: no tensor of this name.
  const TensorEntry *find(llvm::StringRef tensor) const;
  /// The value of a metadata key; empty where there is none.
  llvm::StringRef metadata(llvm::StringRef key) const;
  const std::map<std::string, std::string> &allMetadata() const { return table.metadata; }
  /// The tensor's numbers as f32. Error: no such tensor, a file that was cut meanwhile.
  llvm::Expected<NamedTensor> read(llvm::StringRef tensor) const;

private:
  TensorFile() = default;

  std::string name;
  TensorTable table;
  llvm::StringMap<size_t> index;
};

} // namespace vetro
