// Writes GGUF version 3 files: keys in the order given, then tensors, packed and padded as every
// reader expects. For tests, make-tiny and tools.
#pragma once
#include "frontends/gguf/Gguf.h"
#include "llvm/Support/raw_ostream.h"

namespace vetro::gguf {

class Writer {
public:
  /// Streams a tensor's bytes; must write exactly as many as its type and shape need.
  using Produce = std::function<llvm::Error(llvm::raw_ostream &)>;

  /// `alignment`: of tensors, a power of two from 1 to 65,536. Other than 32 it is written as
  /// general.alignment.
  explicit Writer(uint32_t alignment = 32);

  /// Adds a key with a number or bool of exactly type T.
  template <typename T> void add(llvm::StringRef key, T value) {
    static_assert(std::is_arithmetic_v<T>, "strings: addString");
    beginKey(key, Value::typeOf<T>());
    append(&value, sizeof(T));
  }
  void addString(llvm::StringRef key, llvm::StringRef text);
  /// Adds an array of numbers of exactly type T.
  template <typename T> void addArray(llvm::StringRef key, llvm::ArrayRef<T> values) {
    static_assert(std::is_arithmetic_v<T>, "strings: addStrings");
    beginArray(key, Value::typeOf<T>(), values.size());
    append(values.data(), values.size() * sizeof(T));
  }
  void addStrings(llvm::StringRef key, llvm::ArrayRef<std::string> texts);
  void addStrings(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> texts);
  /// Copies a value read from another file.
  void addValue(llvm::StringRef key, const Value &value);

  /// Adds a tensor of GGUF type `ggufType`; `ne` has 1 to 4 dimensions, fastest first. `bytes`
  /// must outlive write().
  void addTensor(llvm::StringRef name, unsigned ggufType, llvm::ArrayRef<uint64_t> ne,
                 llvm::ArrayRef<uint8_t> bytes);
  void addTensor(llvm::StringRef name, Format format, llvm::ArrayRef<uint64_t> ne,
                 llvm::ArrayRef<uint8_t> bytes);
  void addTensor(llvm::StringRef name, Format format, llvm::ArrayRef<uint64_t> ne,
                 std::vector<uint8_t> &&bytes) = delete; // they would not outlive write()
  /// The same, with bytes made while the file is written.
  void addTensor(llvm::StringRef name, Format format, llvm::ArrayRef<uint64_t> ne, Produce produce);

  /// Writes `path` by way of a temporary file beside it, so that it is whole or absent. Errors:
  /// a key or tensor given twice, a bad name, shape, type or number of bytes, a failed write.
  llvm::Error write(llvm::StringRef path) const;
  /// The same to a stream that starts at byte 0 of a file.
  llvm::Error write(llvm::raw_ostream &os) const;

private:
  struct Tensor {
    std::string name;
    unsigned ggufType;
    std::vector<uint64_t> ne;
    Produce produce;
  };
  void beginKey(llvm::StringRef key, ValueType type);
  void beginArray(llvm::StringRef key, ValueType element, uint64_t count);
  void append(const void *data, size_t bytes);
  void appendText(llvm::StringRef text);
  template <typename Texts> void appendTexts(llvm::StringRef key, const Texts &texts);
  llvm::Error check() const;

  uint32_t alignment_;
  uint64_t numKeys_ = 0;
  std::string keyBytes_; ///< all key records
  std::vector<std::string> keys_;
  std::vector<Tensor> tensors_;
};

} // namespace vetro::gguf
