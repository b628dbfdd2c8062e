// A random model in a temporary folder.
#pragma once
#include "frontends/gguf/Gguf.h"
#include "frontends/tiny/Tiny.h"

namespace vetro::test {

class TinyFile {
public:
  /// Makes the file; a test that needs it fails where that fails.
  explicit TinyFile(const TinyOptions &options);
  ~TinyFile();
  TinyFile(const TinyFile &) = delete;

  const std::string &path() const { return filePath; }
  std::string bytes() const;
  std::shared_ptr<gguf::File> open() const;

private:
  std::string filePath;
};

} // namespace vetro::test
