// Reads ranges of a file into memory, through the page cache or past it.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace vetro::gguf {

class BlockReader {
public:
  /// `fd` and `path` must outlive the reader; `fileBytes` is the size when the file was opened.
  BlockReader(int fd, llvm::StringRef path, uint64_t fileBytes)
      : fd_(fd), path_(path), fileBytes_(fileBytes) {}
  ~BlockReader();
  BlockReader(const BlockReader &) = delete;
  BlockReader &operator=(const BlockReader &) = delete;

  /// Switches the descriptor to direct I/O; false where the file system has none.
  bool enableDirect();

  /// Fills `to` from file offset `from`. Fails where the file cannot be read or became shorter.
  llvm::Error read(uint64_t from, llvm::MutableArrayRef<uint8_t> to);

private:
  llvm::Expected<uint64_t> readSome(uint64_t from, uint8_t *to, uint64_t bytes);
  llvm::Error readDirect(uint64_t from, llvm::MutableArrayRef<uint8_t> to);
  struct Free {
    void operator()(uint8_t *p) const { std::free(p); }
  };
  int fd_;
  llvm::StringRef path_;
  uint64_t fileBytes_;
  int oldFlags_ = -1;
  std::unique_ptr<uint8_t, Free> bounce_; ///< aligned; direct I/O reads whole blocks into it
};

} // namespace vetro::gguf
