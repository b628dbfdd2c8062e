// Bytes that are read by place: a file's, or what a part of a file unpacks to. What reads tensors
// from them trusts no length before it was held against size().
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>

namespace vetro {

class Bytes {
public:
  /// A file, which stays open. Error: it cannot be opened, or is no regular file.
  static llvm::Expected<std::shared_ptr<const Bytes>> ofFile(llvm::StringRef path);
  /// The same, but opened anew for each read: a process may hold some thousand files open.
  static llvm::Expected<std::shared_ptr<const Bytes>> ofFileAmongMany(llvm::StringRef path);
  /// A text in memory; `path`: what errors call it.
  static std::shared_ptr<const Bytes> ofText(llvm::StringRef path, std::string text);
  virtual ~Bytes() = default;

  /// Of the file, as it was named; every error begins with it.
  const std::string &path() const { return name; }
  uint64_t size() const { return sizeBytes; }
  /// Reads [offset, offset + bytes) to `to`. Error: the range is not there (the file was cut
  /// meanwhile), the system refuses. Any thread.
  virtual llvm::Error read(uint64_t offset, void *to, uint64_t bytes) const = 0;
  /// "PATH: what", as an error.
  llvm::Error error(const llvm::Twine &what) const;

protected:
  Bytes(llvm::StringRef path, uint64_t sizeBytes) : name(path.str()), sizeBytes(sizeBytes) {}

private:
  std::string name;
  uint64_t sizeBytes;
};

/// A text of the file, safe to print: in quotes, escaped, at most 80 bytes of it.
std::string printable(llvm::StringRef text);

} // namespace vetro
