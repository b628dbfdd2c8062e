// A small valid GGUF file that tests change byte by byte, and helpers to open what comes out.
#pragma once
#include "frontends/gguf/Gguf.h"
#include "frontends/gguf/Write.h"
#include "tests/unit/Catch.h"
#include <string>

namespace vetro::test {

/// A folder of its own that is removed at the end of the test.
class TempDir {
public:
  TempDir();
  ~TempDir();
  std::string file(const std::string &name) const { return path_ + "/" + name; }

private:
  std::string path_;
};

/// The bytes of a writer's file.
std::string bytesOf(const gguf::Writer &writer);

/// A valid file of 19 keys of every type and 6 tensors (F32, F16, Q8_0, Q4_K, IQ4_NL, MXFP4).
std::string tinyGguf(uint32_t alignment = 32);

void writeFile(const std::string &path, llvm::StringRef bytes);

/// Opens `bytes` as a file. The file is gone afterwards; the mapping stays.
llvm::Expected<std::shared_ptr<gguf::File>> openBytes(llvm::StringRef bytes,
                                                      const gguf::OpenOptions &options = {});

/// The file, or a failed test that shows the message.
std::shared_ptr<gguf::File> accepted(llvm::Expected<std::shared_ptr<gguf::File>> file);

/// Requires that `bytes` are refused with an error of this kind; its message, for more checks.
std::string refused(llvm::StringRef bytes, gguf::ErrorKind kind,
                    const gguf::OpenOptions &options = {});
std::string refused(llvm::Expected<std::shared_ptr<gguf::File>> file, gguf::ErrorKind kind);

/// Writes a number at a byte offset.
template <typename T> void put(std::string &bytes, size_t offset, T value) {
  REQUIRE(offset + sizeof(T) <= bytes.size());
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

/// Offset of a key's record (its u64 length), of its u32 value type, of its value.
size_t keyAt(const std::string &bytes, const std::string &key);
size_t typeAt(const std::string &bytes, const std::string &key);
size_t valueAt(const std::string &bytes, const std::string &key);

/// Offset of a tensor's record, and of its u32 dimension count.
size_t tensorAt(const std::string &bytes, const std::string &name);
size_t dimsAt(const std::string &bytes, const std::string &name);

/// Processor milliseconds that opening the file takes: the least of three tries.
double msToOpen(const std::string &path, const gguf::OpenOptions &options = {});

/// Whether `text` holds `part`.
bool has(const std::string &text, const std::string &part);

} // namespace vetro::test
