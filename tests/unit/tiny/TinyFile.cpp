// Makes, reads and removes a random model's file.
#include "tests/unit/tiny/TinyFile.h"
#include "tests/unit/Catch.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

namespace vetro::test {

TinyFile::TinyFile(const TinyOptions &options) {
  llvm::SmallString<128> name;
  REQUIRE(!llvm::sys::fs::createTemporaryFile("vetro-tiny", "gguf", name));
  filePath = std::string(name);
  std::string message = llvm::toString(makeTiny(options, filePath));
  INFO(options.arch << " " << options.type << ": " << message);
  REQUIRE(message.empty());
}

TinyFile::~TinyFile() { llvm::sys::fs::remove(filePath); }

std::string TinyFile::bytes() const {
  auto buffer = llvm::MemoryBuffer::getFile(filePath);
  REQUIRE(bool(buffer));
  return (*buffer)->getBuffer().str();
}

std::shared_ptr<gguf::File> TinyFile::open() const {
  auto file = gguf::File::open(filePath);
  REQUIRE(bool(file));
  return *file;
}

} // namespace vetro::test
