// Named tensors of a file, read one at a time: what a comparison reads.
#pragma once

#include "runtime/trace/Bytes.h"
#include "runtime/trace/Safetensors.h"

#include "llvm/ADT/StringMap.h"
#include <map>

namespace vetro {

/// What a file says of one tensor.
struct TensorEntry {
  std::string name;
  std::string dtype; ///< as in safetensors: "F32", "BF16"
  std::vector<int64_t> shape;
  uint64_t offset = 0, sizeBytes = 0; ///< in the file
};

class TensorFile {
public:
  /// Opens a safetensors file. The header is checked as the format wants it: at most 100 MB, known
  /// types, sizes that fit shapes, data without a gap or an overlap to the file's end. Error: one
  /// line with the path and what is wrong.
  static llvm::Expected<std::unique_ptr<TensorFile>> open(llvm::StringRef path);

  const std::string &path() const { return bytes->path(); }
  /// In the order of their data, which is that of computation in our dumps.
  const std::vector<TensorEntry> &entries() const { return list; }
  /// Null: no tensor of this name.
  const TensorEntry *find(llvm::StringRef tensor) const;
  /// The value of a metadata key; empty where there is none.
  llvm::StringRef metadata(llvm::StringRef key) const;
  const std::map<std::string, std::string> &allMetadata() const { return pairs; }
  /// The tensor's numbers as f32. Error: no such tensor, a file that was cut meanwhile.
  llvm::Expected<NamedTensor> read(llvm::StringRef tensor) const;

private:
  TensorFile() = default;
  llvm::Error error(const llvm::Twine &what) const { return bytes->error(what); }
  llvm::Error readHeader();
  llvm::Error parseHeader(llvm::StringRef text, uint64_t dataBytes);
  llvm::Error checkRanges(uint64_t dataBytes) const;

  std::shared_ptr<const Bytes> bytes;
  std::vector<TensorEntry> list;
  llvm::StringMap<size_t> index;
  std::map<std::string, std::string> pairs;
};

} // namespace vetro
