// A range of memory taken once from the system: zero until written, given back as one.
#pragma once

#include "llvm/Support/Error.h"
#include <cstdint>
#include <sys/mman.h>

namespace vetro {

/// Pages count as resident only once they are written, so a region may be reserved generously.
class Region {
public:
  Region() = default;
  ~Region() { release(); }
  Region(Region &&other) noexcept { *this = std::move(other); }
  Region &operator=(Region &&other) noexcept {
    release();
    base = std::exchange(other.base, nullptr);
    bytes = std::exchange(other.bytes, 0);
    return *this;
  }

  /// Error: the system has no such range to give. `what` names the use in the message.
  static llvm::Expected<Region> reserve(uint64_t bytes, const char *what) {
    Region region;
    if (bytes == 0)
      return region;
    void *base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
      return llvm::createStringError(std::errc::not_enough_memory,
                                     "no memory for %s: %llu MiB asked; use a smaller context (-c, "
                                     "in Python n_ctx) or a smaller model",
                                     what, (unsigned long long)(bytes >> 20));
    region.base = static_cast<uint8_t *>(base);
    region.bytes = bytes;
    madvise(base, bytes, MADV_HUGEPAGE); // worth 5-9 % of read bandwidth; refusal is harmless
    return region;
  }

  uint8_t *data() const { return base; }
  uint64_t size() const { return bytes; }

private:
  void release() {
    if (base)
      munmap(base, bytes);
    base = nullptr;
  }
  uint8_t *base = nullptr;
  uint64_t bytes = 0;
};

/// The next multiple of the cache line.
constexpr uint64_t alignLine(uint64_t n) { return (n + 63) / 64 * 64; }

} // namespace vetro
