// The slow path of reading: more bytes from the file, or the first failure.
#include "frontends/gguf/Cursor.h"
#include "llvm/ADT/Twine.h"

namespace vetro::gguf {

bool Cursor::makeReadable(uint64_t n) {
  if (failed_)
    return false;
  failedOffset_ = offset_;
  failedNeed_ = n;
  failed_ = n > buffer_.capacity() - offset_;
  if (!failed_)
    if (llvm::Error error = buffer_.fill(offset_ + n, path_)) {
      llvm::consumeError(std::move(ioError_));
      ioError_ = std::move(error);
      failed_ = true;
    }
  return !failed_;
}

llvm::Error Cursor::error(ErrorKind kind, const llvm::Twine &what) {
  if (ioError_)
    return std::move(ioError_);
  uint64_t left = buffer_.fileBytes() - failedOffset_;
  if (failedNeed_ <= left)
    return makeError(ErrorKind::Limit, path_, failedOffset_,
                     what + " goes past the budget of " + llvm::Twine(buffer_.capacity()) +
                         " bytes for metadata; allow more with --ignore-limits");
  return makeError(kind, path_, failedOffset_,
                   what + " needs " + llvm::Twine(failedNeed_) + " bytes, " + llvm::Twine(left) +
                       " are left; the file is cut or damaged, get it again");
}

} // namespace vetro::gguf
