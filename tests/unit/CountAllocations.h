// Replaces the program's operator new by one that counts, for tests that promise "no allocation".
// To be included by exactly one file of a test program. The thread sanitizer brings an operator new
// of its own that cannot be replaced: there nothing is counted, and tests skip with that reason.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VETRO_NO_COUNTING
#endif
#endif

namespace vetro::test {
#ifdef VETRO_NO_COUNTING
inline constexpr bool countsAllocations = false;
#else
inline constexpr bool countsAllocations = true;
#endif
inline std::atomic<size_t> nAllocations{0};

/// Allocations of all threads since the program's start.
inline size_t allocationCount() { return nAllocations.load(std::memory_order_relaxed); }

inline void *countedAllocation(size_t size, size_t alignment) {
  nAllocations.fetch_add(1, std::memory_order_relaxed);
  size_t whole = (size + alignment) / alignment * alignment;
  return alignment <= alignof(std::max_align_t) ? std::malloc(size ? size : 1)
                                                : std::aligned_alloc(alignment, whole);
}

inline void *countedOrThrow(size_t size, size_t alignment) {
  if (void *p = countedAllocation(size, alignment))
    return p;
  throw std::bad_alloc();
}
} // namespace vetro::test

#ifndef VETRO_NO_COUNTING
// All forms, so that no memory comes from one allocator and returns to another.
void *operator new(size_t size) { return vetro::test::countedOrThrow(size, 1); }
void *operator new(size_t size, std::align_val_t a) {
  return vetro::test::countedOrThrow(size, size_t(a));
}
void *operator new(size_t size, const std::nothrow_t &) noexcept {
  return vetro::test::countedAllocation(size, 1);
}
void *operator new(size_t size, std::align_val_t a, const std::nothrow_t &) noexcept {
  return vetro::test::countedAllocation(size, size_t(a));
}
void *operator new[](size_t size) { return vetro::test::countedOrThrow(size, 1); }
void *operator new[](size_t size, std::align_val_t a) {
  return vetro::test::countedOrThrow(size, size_t(a));
}
void *operator new[](size_t size, const std::nothrow_t &) noexcept {
  return vetro::test::countedAllocation(size, 1);
}
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, size_t) noexcept { std::free(p); }
void operator delete(void *p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void *p, size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void *p, const std::nothrow_t &) noexcept { std::free(p); }
void operator delete[](void *p) noexcept { std::free(p); }
void operator delete[](void *p, size_t) noexcept { std::free(p); }
void operator delete[](void *p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void *p, size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void *p, const std::nothrow_t &) noexcept { std::free(p); }
#endif
