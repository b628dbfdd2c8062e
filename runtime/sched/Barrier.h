// The barrier between two steps of a plan: every thread waits until all have arrived.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace vetro {

/// Tells the processor that this is a waiting loop (SMT siblings get the units meanwhile).
inline void spinPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Gives the processor to another thread.
void yieldThread();

/// Waits for `ready()`: `spins` times on the spot, then giving the processor away in between.
template <typename Ready> void spinThenYield(unsigned spins, Ready ready) {
  while (!ready()) {
    if (spins == 0)
      yieldThread();
    else {
      --spins;
      spinPause();
    }
  }
}

/// A dissemination barrier (Hensgen, Finkel, Manber 1988): in round r thread t tells thread
/// t + 2^r and waits for thread t - 2^r, modulo N. After ceil(log2 N) rounds each thread has heard,
/// directly or through others, from all. For two threads that is one store and one polled line
/// each, the least that two caches can do. No allocation after construction.
class Barrier {
public:
  /// `spins`: how often a waiting thread looks before it starts to yield; 0 where threads outnumber
  /// processors.
  Barrier(unsigned nThreads, unsigned spins);

  /// Called by each thread with its own number in [0, nThreads), the same number of times. What any
  /// thread wrote before is visible to all after.
  void wait(unsigned thread);

private:
  /// A cache line of its own: the line bounces only between its one writer and its one reader.
  struct alignas(64) Line {
    std::atomic<uint32_t> epoch{0};
  };
  struct alignas(64) Count {
    uint32_t epoch = 0;
  };
  unsigned nThreads, nRounds, spins;
  std::unique_ptr<Line[]> lines;   // [nRounds][nThreads]: heard by this thread in this round
  std::unique_ptr<Count[]> counts; // [nThreads]: barriers passed, touched by its thread alone
};

} // namespace vetro
