// The only way bytes of a GGUF header are read: every length is compared with what is left of the
// file and of the metadata budget before it is used. The first failure sticks, later reads give
// zeros, so that callers check once per record.
#pragma once
#include "frontends/gguf/GgufError.h"
#include "frontends/gguf/HeaderBuffer.h"
#include <cstring>

namespace vetro::gguf {

class Cursor {
public:
  /// `buffer` and `path` must outlive the cursor.
  Cursor(HeaderBuffer &buffer, llvm::StringRef path) : buffer_(buffer), path_(path) {}
  ~Cursor() { llvm::consumeError(std::move(ioError_)); }
  Cursor(const Cursor &) = delete;
  Cursor &operator=(const Cursor &) = delete;

  uint64_t offset() const { return offset_; }
  /// Bytes of the file after the cursor.
  uint64_t remaining() const { return buffer_.fileBytes() - offset_; }
  bool failed() const { return failed_; }
  llvm::StringRef path() const { return path_; }

  /// `n` bytes and moves on; null where they are not there.
  const uint8_t *take(uint64_t n) {
    if (failed_ || n > buffer_.filled() - offset_)
      if (!makeReadable(n))
        return nullptr;
    const uint8_t *at = buffer_.data() + offset_;
    offset_ += n;
    return at;
  }

  /// One number in little-endian order; 0 on failure.
  template <typename T> T number() {
    T value = 0;
    if (const uint8_t *at = take(sizeof(T)))
      std::memcpy(&value, at, sizeof(T));
    return value;
  }

  /// u64 length and that many bytes; empty on failure.
  llvm::StringRef string() {
    uint64_t length = number<uint64_t>();
    const uint8_t *at = take(length);
    return at ? llvm::StringRef(reinterpret_cast<const char *>(at), length) : llvm::StringRef();
  }

  /// The error of the first failure; `kind` and `what` ("value of key \"a\"") say what was read.
  llvm::Error error(ErrorKind kind, const llvm::Twine &what);

private:
  bool makeReadable(uint64_t n);
  HeaderBuffer &buffer_;
  llvm::StringRef path_;
  uint64_t offset_ = 0;
  bool failed_ = false;
  uint64_t failedOffset_ = 0, failedNeed_ = 0;
  llvm::Error ioError_ = llvm::Error::success();
};

} // namespace vetro::gguf
