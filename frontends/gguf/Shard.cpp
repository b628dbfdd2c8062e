// Opening one file.
#include "frontends/gguf/Shard.h"
#include "llvm/ADT/Twine.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace vetro::gguf {

using llvm::Error;

llvm::Expected<std::unique_ptr<Shard>> Shard::open(llvm::StringRef path,
                                                   const OpenOptions &options) {
  std::unique_ptr<Shard> shard(new Shard());
  shard->path_ = path.str();
  uint64_t limit = options.ignoreLimits ? UINT64_MAX : maxMetadataBytes;
  shard->content_ = options.content;
  shard->fileBytes_ = options.content.size();
  if (options.content.empty())
    if (Error e = shard->openFile())
      return e;
  auto header = options.content.empty()
                    ? HeaderBuffer::create(shard->fd_, path, shard->fileBytes_, limit)
                    : HeaderBuffer::create(options.content, path, limit);
  if (!header)
    return header.takeError();
  shard->header_ = std::move(*header);
  auto head = parseHead(shard->header_, path, options);
  if (!head)
    return head.takeError();
  shard->head_ = std::move(*head);
  shard->header_.trim(shard->head_.endOffset);
  if (Error e = checkDataRanges(shard->head_, shard->fileBytes_, path, options))
    return e;
  return shard;
}

Error Shard::openFile() {
  // Non-blocking: opening a named pipe would wait for its writer.
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0)
    return makeSystemError(path_, "open", errno);
  struct stat info;
  if (fstat(fd_, &info) != 0)
    return makeSystemError(path_, "get the size", errno);
  if (!S_ISREG(info.st_mode))
    return makeError(ErrorKind::File, path_,
                     S_ISDIR(info.st_mode) ? "is a folder, expected a GGUF file; name a file in it"
                                           : "is no regular file, expected a GGUF file; save its "
                                             "content to a file first");
  fileBytes_ = static_cast<uint64_t>(info.st_size);
  modified_ = info.st_mtim;
  return Error::success();
}

Shard::~Shard() {
  if (fd_ >= 0)
    close(fd_);
}

Error Shard::load(const OpenOptions &options, llvm::function_ref<void(double)> progress,
                  std::vector<std::string> &notes) {
  return data_.load(
      {.fd = fd_, .content = content_, .path = path_, .fileBytes = fileBytes_, .head = head_},
      options, progress, notes);
}

Error Shard::checkUnchanged() const {
  if (!data_.isMapped())
    return Error::success();
  struct stat info;
  if (fstat(fd_, &info) != 0)
    return makeSystemError(path_, "get the size", errno);
  if (static_cast<uint64_t>(info.st_size) != fileBytes_)
    return makeError(ErrorKind::File, path_,
                     "has " + llvm::Twine(static_cast<uint64_t>(info.st_size)) + " bytes, had " +
                         llvm::Twine(fileBytes_) + " when it was loaded; load the model again");
  if (info.st_mtim.tv_sec != modified_.tv_sec || info.st_mtim.tv_nsec != modified_.tv_nsec)
    return makeError(ErrorKind::File, path_,
                     "was written to since it was loaded; load the model again");
  return Error::success();
}

} // namespace vetro::gguf
