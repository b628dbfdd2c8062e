// A GGUF file, opened and checked: its metadata, its tensors and their bytes. This is where a
// model enters the house; the importer, the tokenizer and `inspect` read it.
// Format: ggml-org/ggml, docs/gguf.md, versions 2 and 3.
#pragma once
#include "frontends/gguf/GgufError.h"
#include "frontends/gguf/Value.h"
#include "runtime/abi/Format.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <array>
#include <functional>
#include <memory>

namespace vetro::gguf {

class Shard;

/// How a file is opened.
struct OpenOptions {
  bool mmap = true;           ///< map the data; off: read it into memory of our own
  bool mlock = false;         ///< keep the data in memory
  bool directIO = false;      ///< read past the page cache (implies no mmap)
  bool allowTrailing = false; ///< accept bytes that no tensor claims
  bool checkTensors = false;  ///< check all scales and F32, F16, BF16, F64 weights: reads the file
  bool ignoreLimits = false;  ///< no caps on keys, tensors and metadata bytes
  /// The bytes of the file where they are in memory already, aligned to 64: nothing is opened,
  /// mapped or read, and `path` is only a name. Must outlive the File. Empty: `path` is a file.
  llvm::ArrayRef<uint8_t> content;
  std::vector<std::string> overrides;   ///< KEY=TYPE:VALUE, applied in order after reading
  std::function<void(double)> progress; ///< called with 0..1 while data is read or checked
  /// Called with each mapped range, before it is read and before it is unmapped, so that the
  /// owner of the fault handler knows it (runtime/memory/Signals.h). Both may be empty.
  std::function<void(llvm::ArrayRef<uint8_t>)> onMap, onUnmap;
};

struct KeyValue {
  llvm::StringRef key;
  Value value;
  uint64_t offset = 0;     ///< of the key's record in the file; 0 if it was added by an override
  bool overridden = false; ///< set by OpenOptions::overrides
};

struct TensorInfo {
  std::string name;
  unsigned ggufType = 0;        ///< type id in the file
  bool supported = false;       ///< whether `format` is valid: the type is one that Vetro reads
  Format format = Format::F32;  ///< valid only if `supported`
  std::array<uint64_t, 4> ne{}; ///< elements per dimension, fastest first; 1 past nDims
  unsigned nDims = 0;           ///< 1..4
  uint64_t offset = 0;          ///< in bytes, in the data section of its shard
  uint64_t sizeBytes = 0;
  unsigned shard = 0; ///< file number of a split model
  unsigned index = 0; ///< position in File::tensors()

  /// Row-major shape: the first nDims entries of `ne`, reversed.
  llvm::SmallVector<int64_t, 4> shape() const;
  uint64_t numElements() const { return ne[0] * ne[1] * ne[2] * ne[3]; }
  /// Rows of ne[0] elements.
  uint64_t numRows() const { return ne[1] * ne[2] * ne[3]; }
  /// Name of the storage type, also where it is not supported: "q4_1", "mxfp4".
  llvm::StringRef typeName() const;
};

/// Immutable once open, but for releasePages(); all const functions may be called by any thread.
class File {
public:
  /// Opens a file, or all shards of a split one given its first shard. Errors (GgufError): the
  /// file cannot be read, is malformed, breaks a limit, lacks a shard; a bad override; with
  /// `checkTensors` a weight that is not finite.
  static llvm::Expected<std::shared_ptr<File>> open(llvm::StringRef path,
                                                    const OpenOptions &options = {});
  ~File();

  llvm::StringRef path() const { return path_; }
  uint32_t version() const { return version_; }
  /// Things that did not go as asked but harm nothing ("memory could not be locked: ...").
  llvm::ArrayRef<std::string> notes() const { return notes_; }

  /// Metadata of the first shard, with overrides, in file order.
  llvm::ArrayRef<KeyValue> keys() const { return keys_; }
  /// The value of a key, or null.
  const Value *find(llvm::StringRef key) const;
  /// The value of a key as exactly T (uint8_t ... double, bool, llvm::StringRef); nothing where
  /// the key is absent, an error where its type is another.
  template <typename T> llvm::Expected<std::optional<T>> get(llvm::StringRef key) const;
  /// As get(); an absent key is an error too.
  template <typename T> llvm::Expected<T> require(llvm::StringRef key) const;

  /// Tensors of all shards, in file order.
  llvm::ArrayRef<TensorInfo> tensors() const { return tensors_; }
  const TensorInfo *findTensor(llvm::StringRef name) const;
  /// The bytes of a tensor of this file, at least 8-byte aligned; empty once releasePages() was
  /// called on a tensor that was read and not mapped.
  llvm::ArrayRef<uint8_t> data(const TensorInfo &tensor) const;
  /// The mapped bytes of each shard, as OpenOptions::onMap got them; empty where all were read.
  llvm::SmallVector<llvm::ArrayRef<uint8_t>, 1> mappings() const;
  /// The tensor whose mapped bytes hold `address`, or null: names the weight behind a fault.
  const TensorInfo *tensorAt(const void *address) const;
  /// Drops the memory of a tensor that is no longer read, such as after its repack. Mapped bytes
  /// can still be read, from the file again.
  void releasePages(const TensorInfo &tensor) const;
  /// Drops the memory of some of a tensor's rows, which are not asked for again before
  /// releasePages().
  void releaseRows(const TensorInfo &tensor, uint64_t firstRow, uint64_t numRows) const;

  /// Bytes of all shards.
  uint64_t fileBytes() const;
  /// An error if a shard's size or modification time is not what it was when it was opened.
  llvm::Error checkUnchanged() const;

private:
  File() = default;
  llvm::Error openShards(const OpenOptions &options);
  llvm::Error addShard(std::unique_ptr<Shard> shard, const OpenOptions &options);
  llvm::Error applyOverrides(llvm::ArrayRef<std::string> specs);
  llvm::Error loadData(const OpenOptions &options);
  llvm::Error checkAll(const OpenOptions &options) const;
  llvm::Error typeError(llvm::StringRef key, const Value &found, ValueType expected) const;
  llvm::Error missingError(llvm::StringRef key, ValueType expected) const;

  std::string path_;
  uint32_t version_ = 0;
  std::vector<KeyValue> keys_;
  llvm::StringMap<uint32_t> keyIndex_, tensorIndex_;
  std::vector<TensorInfo> tensors_;
  std::vector<std::unique_ptr<Shard>> shards_; ///< own the bytes that keys and tensors point into
  std::vector<std::unique_ptr<std::string>> texts_; ///< own the text of overrides
  std::vector<std::string> notes_;
};

/// Checks the F16 scales (and minima) of rows [firstRow, firstRow + numRows) of a quantised
/// tensor: infinite or NaN is an error that names tensor, row and block. Success for formats
/// without scales and unsupported types. Reads the rows.
llvm::Error checkScales(const File &file, const TensorInfo &tensor, uint64_t firstRow = 0,
                        uint64_t numRows = UINT64_MAX);

/// Checks the tensors that divide rotation frequencies (rope_freqs.weight, rope_factors_*.weight):
/// zero, a negative number, infinity or NaN would make every logit NaN. Done at every open.
llvm::Error checkRopeFactors(const File &file);

/// Checks that all weights of an F32, F16, BF16 or F64 tensor are finite; success for all other
/// types. Reads the whole tensor.
llvm::Error checkWeights(const File &file, const TensorInfo &tensor);

template <typename T> llvm::Expected<std::optional<T>> File::get(llvm::StringRef key) const {
  const Value *value = find(key);
  if (!value)
    return std::optional<T>();
  if (!value->is<T>())
    return typeError(key, *value, Value::typeOf<T>());
  return value->as<T>();
}

template <typename T> llvm::Expected<T> File::require(llvm::StringRef key) const {
  llvm::Expected<std::optional<T>> value = get<T>(key);
  if (!value)
    return value.takeError();
  if (!*value)
    return missingError(key, Value::typeOf<T>());
  return **value;
}

} // namespace vetro::gguf
