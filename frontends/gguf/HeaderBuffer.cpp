// Address space is reserved once and filled by pread in steps of 1 MiB.
#include "frontends/gguf/HeaderBuffer.h"
#include "frontends/gguf/GgufError.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace vetro::gguf {

static uint64_t pageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

HeaderBuffer::~HeaderBuffer() {
  if (data_)
    munmap(data_, reserved_);
}

void HeaderBuffer::swap(HeaderBuffer &other) {
  std::swap(data_, other.data_);
  std::swap(filled_, other.filled_);
  std::swap(capacity_, other.capacity_);
  std::swap(reserved_, other.reserved_);
  std::swap(fileBytes_, other.fileBytes_);
  std::swap(fd_, other.fd_);
  std::swap(content_, other.content_);
}

llvm::Error HeaderBuffer::reserve(llvm::StringRef path, uint64_t fileBytes, uint64_t limitBytes) {
  fileBytes_ = fileBytes;
  capacity_ = std::min(fileBytes, limitBytes);
  reserved_ = llvm::alignTo(std::max<uint64_t>(capacity_, 1), pageBytes());
  void *memory = mmap(nullptr, reserved_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return makeSystemError(path, "reserve memory for the metadata", errno);
  data_ = static_cast<uint8_t *>(memory);
  return llvm::Error::success();
}

llvm::Expected<HeaderBuffer> HeaderBuffer::create(int fd, llvm::StringRef path, uint64_t fileBytes,
                                                  uint64_t limitBytes) {
  HeaderBuffer buffer;
  buffer.fd_ = fd;
  if (llvm::Error e = buffer.reserve(path, fileBytes, limitBytes))
    return std::move(e);
  return buffer;
}

llvm::Expected<HeaderBuffer> HeaderBuffer::create(llvm::ArrayRef<uint8_t> content,
                                                  llvm::StringRef path, uint64_t limitBytes) {
  HeaderBuffer buffer;
  buffer.content_ = content;
  if (llvm::Error e = buffer.reserve(path, content.size(), limitBytes))
    return std::move(e);
  return buffer;
}

llvm::Error HeaderBuffer::fill(uint64_t end, llvm::StringRef path) {
  constexpr uint64_t step = 1 << 20;
  uint64_t target = std::min(llvm::alignTo(end, step), capacity_);
  if (content_.empty())
    return read(target, path);
  if (filled_ < target)
    std::memcpy(data_ + filled_, content_.data() + filled_, target - filled_);
  filled_ = std::max(filled_, target);
  return llvm::Error::success();
}

/// Reads from the file up to byte `end`.
llvm::Error HeaderBuffer::read(uint64_t end, llvm::StringRef path) {
  while (filled_ < end) {
    ssize_t got = pread(fd_, data_ + filled_, end - filled_, static_cast<off_t>(filled_));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return makeSystemError(path, "read", errno);
    if (got == 0)
      return makeError(ErrorKind::File, path, filled_,
                       "the file ended here although its size was " + llvm::Twine(fileBytes_) +
                           " bytes; it changed while it was read, try again");
    filled_ += static_cast<uint64_t>(got);
  }
  return llvm::Error::success();
}

void HeaderBuffer::trim(uint64_t end) {
  uint64_t keep = llvm::alignTo(std::max<uint64_t>(end, 1), pageBytes());
  if (keep >= reserved_)
    return;
  munmap(data_ + keep, reserved_ - keep);
  reserved_ = keep;
  capacity_ = std::min(capacity_, keep);
  filled_ = std::min(filled_, keep);
}

} // namespace vetro::gguf
