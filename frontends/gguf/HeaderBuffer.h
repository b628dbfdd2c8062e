// The first bytes of a file (header, metadata, tensor table), read as the parser asks for them
// into memory that never moves: keys and strings point into it for the life of the model. They are
// a copy, so that a file that changes later cannot change what was checked.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace vetro::gguf {

class HeaderBuffer {
public:
  HeaderBuffer() = default;
  HeaderBuffer(HeaderBuffer &&other) noexcept { swap(other); }
  HeaderBuffer &operator=(HeaderBuffer &&other) noexcept {
    swap(other);
    return *this;
  }
  HeaderBuffer(const HeaderBuffer &) = delete;
  HeaderBuffer &operator=(const HeaderBuffer &) = delete;
  ~HeaderBuffer();

  /// Reserves address space for the first `limitBytes` of a file of `fileBytes` (the smaller
  /// counts; no memory is used before it is filled). `fd` must outlive the calls of fill().
  static llvm::Expected<HeaderBuffer> create(int fd, llvm::StringRef path, uint64_t fileBytes,
                                             uint64_t limitBytes);

  /// The same for a file whose bytes are in memory; they must outlive the calls of fill().
  static llvm::Expected<HeaderBuffer> create(llvm::ArrayRef<uint8_t> content, llvm::StringRef path,
                                             uint64_t limitBytes);

  /// Makes bytes [0, end) readable; end <= capacity(). Fails where the file cannot be read or has
  /// become shorter.
  llvm::Error fill(uint64_t end, llvm::StringRef path);

  /// Gives back what lies past `end`; fill() must not be called afterwards.
  void trim(uint64_t end);

  const uint8_t *data() const { return data_; }
  uint64_t filled() const { return filled_; }
  uint64_t capacity() const { return capacity_; }
  uint64_t fileBytes() const { return fileBytes_; }

private:
  llvm::Error reserve(llvm::StringRef path, uint64_t fileBytes, uint64_t limitBytes);
  llvm::Error read(uint64_t end, llvm::StringRef path);
  void swap(HeaderBuffer &other);
  uint8_t *data_ = nullptr;
  uint64_t filled_ = 0, capacity_ = 0, reserved_ = 0, fileBytes_ = 0;
  int fd_ = -1;
  llvm::ArrayRef<uint8_t> content_; ///< instead of fd_
};

} // namespace vetro::gguf
