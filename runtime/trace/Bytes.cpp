// Files by place.
#include "runtime/trace/Bytes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

namespace fs = llvm::sys::fs;

namespace vetro {
namespace {

class OpenFile : public Bytes {
public:
  OpenFile(llvm::StringRef path, uint64_t sizeBytes, fs::file_t file)
      : Bytes(path, sizeBytes), file(file) {}
  ~OpenFile() override { fs::closeFile(file); }

  llvm::Error read(uint64_t offset, void *to, uint64_t bytes) const override {
    for (uint64_t done = 0; done < bytes;) {
      auto n = fs::readNativeFileSlice(file, {static_cast<char *>(to) + done, bytes - done},
                                       offset + done);
      if (!n)
        return error("could not read: " + llvm::toString(n.takeError()));
      if (*n == 0)
        return error("ends at byte " + llvm::Twine(offset + done) +
                     ", it was cut while it was read");
      done += *n;
    }
    return llvm::Error::success();
  }

private:
  mutable fs::file_t file;
};

class ReopenedFile : public Bytes {
public:
  ReopenedFile(llvm::StringRef path, uint64_t sizeBytes) : Bytes(path, sizeBytes) {}

  llvm::Error read(uint64_t offset, void *to, uint64_t bytes) const override {
    auto file = ofFile(path());
    return file ? (*file)->read(offset, to, bytes) : file.takeError();
  }
};

class Text : public Bytes {
public:
  Text(llvm::StringRef path, std::string t) : Bytes(path, t.size()), text(std::move(t)) {}

  llvm::Error read(uint64_t offset, void *to, uint64_t bytes) const override {
    if (offset > text.size() || bytes > text.size() - offset)
      return error("has no byte " + llvm::Twine(offset + bytes));
    std::memcpy(to, text.data() + offset, bytes);
    return llvm::Error::success();
  }

private:
  std::string text;
};

} // namespace

llvm::Error Bytes::error(const llvm::Twine &what) const {
  return llvm::createStringError(name + ": " + what);
}

llvm::Expected<std::shared_ptr<const Bytes>> Bytes::ofFile(llvm::StringRef path) {
  fs::file_status status;
  if (std::error_code code = fs::status(path, status))
    return llvm::createStringError(path + ": could not open: " + code.message());
  // Asked before it is opened: opening a pipe waits for its other end.
  if (!fs::is_regular_file(status))
    return llvm::createStringError(path + ": is no regular file, expected a file of values");
  auto file = fs::openNativeFileForRead(path);
  if (!file)
    return llvm::createStringError(path + ": could not open: " + llvm::toString(file.takeError()));
  return std::make_shared<OpenFile>(path, status.getSize(), *file);
}

llvm::Expected<std::shared_ptr<const Bytes>> Bytes::ofFileAmongMany(llvm::StringRef path) {
  auto file = ofFile(path);
  if (!file)
    return file.takeError();
  return std::make_shared<ReopenedFile>(path, (*file)->size());
}

std::shared_ptr<const Bytes> Bytes::ofText(llvm::StringRef path, std::string text) {
  return std::make_shared<Text>(path, std::move(text));
}

std::string printable(llvm::StringRef text) {
  std::string out = "\"";
  llvm::raw_string_ostream stream(out);
  llvm::printEscapedString(text.take_front(80), stream);
  return out + (text.size() > 80 ? "...\"" : "\"");
}

} // namespace vetro
