// Direct I/O wants offset, length and address aligned to the device's blocks: it reads whole 4 KiB
// blocks into an aligned buffer and copies the wanted part.
#include "frontends/gguf/BlockReader.h"
#include "frontends/gguf/GgufError.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace vetro::gguf {

static constexpr uint64_t blockBytes = 4096, bounceBytes = 4 << 20, chunkBytes = 16 << 20;

BlockReader::~BlockReader() {
  if (oldFlags_ >= 0)
    fcntl(fd_, F_SETFL, oldFlags_);
}

bool BlockReader::enableDirect() {
  int flags = fcntl(fd_, F_GETFL);
  if (flags < 0 || fcntl(fd_, F_SETFL, flags | O_DIRECT) != 0)
    return false;
  bounce_.reset(static_cast<uint8_t *>(std::aligned_alloc(blockBytes, bounceBytes)));
  // Some file systems take the flag and then refuse to read.
  if (bounce_ && pread(fd_, bounce_.get(), blockBytes, 0) >= 0) {
    oldFlags_ = flags;
    return true;
  }
  fcntl(fd_, F_SETFL, flags);
  bounce_.reset();
  return false;
}

/// One pread that is not interrupted; at the end of the file it is an error.
llvm::Expected<uint64_t> BlockReader::readSome(uint64_t from, uint8_t *to, uint64_t bytes) {
  ssize_t got;
  do
    got = pread(fd_, to, bytes, static_cast<off_t>(from));
  while (got < 0 && errno == EINTR);
  if (got < 0)
    return makeSystemError(path_, "read", errno);
  if (got == 0)
    return makeError(ErrorKind::File, path_, from,
                     "the file ended here although its size was " + llvm::Twine(fileBytes_) +
                         " bytes; it changed while it was read, try again");
  return static_cast<uint64_t>(got);
}

llvm::Error BlockReader::read(uint64_t from, llvm::MutableArrayRef<uint8_t> to) {
  if (bounce_)
    return readDirect(from, to);
  while (!to.empty()) {
    auto got = readSome(from, to.data(), std::min<uint64_t>(to.size(), chunkBytes));
    if (!got)
      return got.takeError();
    from += *got;
    to = to.drop_front(*got);
  }
  return llvm::Error::success();
}

llvm::Error BlockReader::readDirect(uint64_t from, llvm::MutableArrayRef<uint8_t> to) {
  while (!to.empty()) {
    uint64_t start = from / blockBytes * blockBytes, skip = from - start;
    uint64_t want = std::min(bounceBytes, llvm::alignTo(skip + to.size(), blockBytes));
    auto got = readSome(start, bounce_.get(), want);
    if (!got)
      return got.takeError();
    if (*got <= skip) // nothing new: the file ends before `from`
      return makeError(ErrorKind::File, path_, from,
                       "the file ended here although its size was " + llvm::Twine(fileBytes_) +
                           " bytes; it changed while it was read, try again");
    uint64_t use = std::min<uint64_t>(*got - skip, to.size());
    std::memcpy(to.data(), bounce_.get() + skip, use);
    from += use;
    to = to.drop_front(use);
  }
  return llvm::Error::success();
}

} // namespace vetro::gguf
