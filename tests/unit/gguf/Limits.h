// What opening one file may cost: 5 seconds, and the file's size plus 256 MiB of memory.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace vetro::test {

/// Since its construction: the time, and the most memory in use at once beyond what was in use at
/// the beginning. Memory is counted, byte by byte, where the address sanitizer's allocator runs;
/// elsewhere only the time is seen, and peakBytes() is what tells of memory.
class FileLimits {
public:
  explicit FileLimits(uint64_t fileBytes);
  /// Which limit was passed, and by how much; empty: none.
  std::string exceeded() const;

private:
  uint64_t maxBytes;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

/// Whether FileLimits counts memory in this program.
extern const bool countsMemory;

/// Peak resident memory of the process in bytes.
int64_t peakBytes();

} // namespace vetro::test
