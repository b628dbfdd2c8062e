#include "tests/unit/gguf/Limits.h"
#include <atomic>
#include <sys/resource.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/allocator_interface.h>
#define VETRO_COUNTS_MEMORY
#endif
#endif

namespace vetro::test {

// Bytes in use since the last FileLimits began, below 0 where older memory was freed; and their
// most.
static std::atomic<int64_t> usedBytes{0}, mostBytes{0};

#ifdef VETRO_COUNTS_MEMORY
static void onMalloc(const volatile void *, size_t size) {
  int64_t used = usedBytes += static_cast<int64_t>(size);
  if (used > mostBytes)
    mostBytes = used;
}
static void onFree(const volatile void *p) {
  usedBytes -= static_cast<int64_t>(__sanitizer_get_allocated_size(p));
}
const bool countsMemory = __sanitizer_install_malloc_and_free_hooks(onMalloc, onFree) > 0;
#else
const bool countsMemory = false;
#endif

FileLimits::FileLimits(uint64_t fileBytes) : maxBytes(fileBytes + (uint64_t(256) << 20)) {
  usedBytes = mostBytes = 0;
}

std::string FileLimits::exceeded() const {
  using namespace std::chrono;
  auto ms = duration_cast<milliseconds>(steady_clock::now() - start).count();
  if (ms > 5000)
    return "took " + std::to_string(ms) + " ms";
  if (static_cast<uint64_t>(mostBytes) > maxBytes)
    return "used " + std::to_string(mostBytes) + " bytes, at most " + std::to_string(maxBytes);
  return "";
}

int64_t peakBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

} // namespace vetro::test
