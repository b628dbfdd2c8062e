// What a reader of a format finds in a file: names, types, shapes, and where the numbers lie.
#pragma once

#include "runtime/trace/Bytes.h"

#include "llvm/ADT/ArrayRef.h"
#include <map>
#include <vector>

namespace vetro {

struct NamedTensor; // Safetensors.h

/// What a file says of one tensor. Its numbers lie row-major and little-endian where nothing else
/// is said.
struct TensorEntry {
  std::string name;
  std::string dtype = {}; ///< as in safetensors: "F32", "BF16"
  std::vector<int64_t> shape = {};
  uint64_t offset = 0, sizeBytes = 0; ///< in `bytes`
  std::shared_ptr<const Bytes> bytes = {};
  bool columnMajor = false, bigEndian = false;
  /// In place of `dtype`, for numbers that are packed: all of `data` to as many floats as the shape
  /// says. Error: what is wrong with the data.
  llvm::Error (*unpack)(const TensorEntry &entry, const char *data,
                        llvm::MutableArrayRef<float> out) = nullptr;
};

struct TensorTable {
  std::vector<TensorEntry> entries;
  std::map<std::string, std::string> metadata;
};

/// Whether `shape` of `bytesEach` is exactly `bytes`; false too where it is more than 2^64.
bool fits(llvm::ArrayRef<int64_t> shape, uint64_t bytesEach, uint64_t bytes);

/// Reads an entry's numbers as f32. Error: as TensorFile::read().
llvm::Expected<NamedTensor> readEntry(const TensorEntry &entry);

/// Makes an entry `name` of whole numbers, [T] or [1, T], the prompt's ids among the metadata
/// ("ids": "1,2,3"). Nothing happens where there is none. Error: as TensorFile::read().
llvm::Error takeIds(TensorTable &table, llvm::StringRef name);

// The formats: each appends to `table` what it finds, or says what is wrong.

/// huggingface/safetensors, README "Format": at most 100 MB of header, sizes that fit shapes, data
/// without a gap or an overlap to the file's end.
llvm::Error readSafetensors(std::shared_ptr<const Bytes> file, TensorTable &table);
/// NumPy, numpy/lib/_format_impl.py, versions 1 to 3: one array, named as its file without ".npy".
llvm::Error readNpy(std::shared_ptr<const Bytes> file, TensorTable &table);
/// A zip file of .npy files, stored or deflated.
llvm::Error readNpz(std::shared_ptr<const Bytes> file, TensorTable &table);
/// The .npy files of a folder, by name.
llvm::Error readNpyFolder(llvm::StringRef folder, TensorTable &table);
/// The JSON tree of modules that transformers/model_debugging_utils.py writes, with the safetensors
/// files beside it. Entries are called as the module and its port, "model.layers.3.mlp.up_proj" +
/// ".output", of several outputs also ".output.1" and so on; metadata are "model_class", "ids",
/// "dtype".
llvm::Error readModuleTree(std::shared_ptr<const Bytes> file, TensorTable &table);
/// SavedLogits.h: one entry "logits" [rows, n_vocab] of ln p, and "ids" of all chunks.
llvm::Error readSavedLogits(std::shared_ptr<const Bytes> file, TensorTable &table);

} // namespace vetro
