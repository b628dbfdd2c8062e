// Only async-signal-safe calls are made in the handlers: lock-free atomics, mmap, sigaction, raise,
// _exit.
#include "runtime/memory/Signals.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace vetro {

namespace {

/// `begin` is written last when a range is added and first when it goes, so that the handler never
/// sees half a range; 0 is a free entry.
struct Range {
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<uintptr_t> fault{0}; ///< the first fault's address; 0: none
};

struct SignalState {
  static constexpr size_t maxRanges = 256;
  Range ranges[maxRanges];
  std::mutex mutex; ///< of those who add and remove ranges and handlers
  std::atomic<bool> interrupt{false}, endAtOnce{false}, dropSecond{false};
  bool busInstalled = false, interruptInstalled = false;
  struct sigaction oldBus = {}, oldInterrupt = {};
  uintptr_t pageBytes = 4096;
};

} // namespace

static_assert(std::atomic<uintptr_t>::is_always_lock_free);
static constinit SignalState state;

/// Maps zeros from the page of `address` to the end of its range, which keeps the address. All
/// bytes past the first missing one are missing too when a file was cut, so one call does for the
/// rest.
static bool coverWithZeros(uintptr_t address) {
  for (Range &range : state.ranges) {
    uintptr_t begin = range.begin.load(std::memory_order_acquire);
    uintptr_t end = range.end.load(std::memory_order_relaxed);
    if (begin == 0 || address < begin || address >= end)
      continue;
    uintptr_t none = 0, page = address / state.pageBytes * state.pageBytes;
    range.fault.compare_exchange_strong(none, address);
    return mmap(reinterpret_cast<void *>(page), end - page, PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
  }
  return false;
}

/// Passes a fault that is not ours to whoever was there before.
static void passOn(int number, siginfo_t *info, void *context) {
  const struct sigaction &old = state.oldBus;
  if (old.sa_flags & SA_SIGINFO)
    return old.sa_sigaction(number, info, context);
  if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN)
    return old.sa_handler(number);
  sigaction(SIGBUS, &old, nullptr);
  if (info->si_code <= 0) // sent by a process: it would not come again by itself
    raise(SIGBUS);
}

extern "C" {
static void vetroOnBus(int number, siginfo_t *info, void *context) {
  int savedErrno = errno;
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  bool ofKernel = info->si_code > 0; // not sent by a process
  if (!ofKernel || !coverWithZeros(address))
    passOn(number, info, context);
  errno = savedErrno;
}

static void vetroOnInterrupt(int) {
  if (state.endAtOnce.load())
    _exit(128 + SIGINT);
  if (!state.interrupt.exchange(true) || state.dropSecond.load())
    return;
  struct sigaction byDefault = {};
  byDefault.sa_handler = SIG_DFL;
  sigaction(SIGINT, &byDefault, nullptr);
  raise(SIGINT);
}
}

void installMappedFaultHandler() {
  std::lock_guard lock(state.mutex);
  if (state.busInstalled)
    return;
  state.pageBytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_sigaction = vetroOnBus;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  state.busInstalled = sigaction(SIGBUS, &action, &state.oldBus) == 0;
}

bool registerMappedRange(const void *begin, size_t sizeBytes) {
  std::lock_guard lock(state.mutex);
  for (Range &range : state.ranges) {
    if (range.begin.load(std::memory_order_relaxed) != 0)
      continue;
    auto first = reinterpret_cast<uintptr_t>(begin);
    range.end.store(first + sizeBytes, std::memory_order_relaxed);
    range.fault.store(0, std::memory_order_relaxed);
    range.begin.store(first, std::memory_order_release);
    return true;
  }
  return false;
}

void unregisterMappedRange(const void *begin) {
  std::lock_guard lock(state.mutex);
  for (Range &range : state.ranges)
    if (range.begin.load(std::memory_order_relaxed) == reinterpret_cast<uintptr_t>(begin)) {
      range.begin.store(0, std::memory_order_release);
      return;
    }
}

const void *faultInMappedRange(const void *begin) {
  for (const Range &range : state.ranges)
    if (range.begin.load(std::memory_order_acquire) == reinterpret_cast<uintptr_t>(begin))
      return reinterpret_cast<const void *>(range.fault.load());
  return nullptr;
}

void installInterruptHandler(SecondInterrupt second) {
  std::lock_guard lock(state.mutex);
  state.dropSecond.store(second == SecondInterrupt::IsDropped);
  if (state.interruptInstalled)
    return;
  struct sigaction action = {};
  action.sa_handler = vetroOnInterrupt;
  sigemptyset(&action.sa_mask); // no SA_RESTART: a read of the terminal ends too
  state.interruptInstalled = sigaction(SIGINT, &action, &state.oldInterrupt) == 0;
}

InterruptEndsProcess::InterruptEndsProcess() {
  state.endAtOnce.store(true);
  if (state.interrupt.load()) // it came before
    _exit(128 + SIGINT);
}
InterruptEndsProcess::~InterruptEndsProcess() { state.endAtOnce.store(false); }

void removeInterruptHandler() {
  std::lock_guard lock(state.mutex);
  if (state.interruptInstalled)
    sigaction(SIGINT, &state.oldInterrupt, nullptr);
  state.interruptInstalled = false;
}

bool interrupted() { return state.interrupt.load(); }

void clearInterrupted() { state.interrupt.store(false); }

} // namespace vetro
