// The rounds of the dissemination barrier.
#include "runtime/sched/Barrier.h"
#include <cassert>
#include <sched.h>

namespace vetro {

void yieldThread() { sched_yield(); }

static unsigned rounds(unsigned nThreads) {
  unsigned r = 0;
  while ((1u << r) < nThreads)
    ++r;
  return r;
}

Barrier::Barrier(unsigned nThreads, unsigned spins)
    : nThreads(nThreads), nRounds(rounds(nThreads)), spins(spins),
      lines(std::make_unique<Line[]>(nRounds * nThreads)),
      counts(std::make_unique<Count[]>(nThreads)) {
  assert(nThreads > 0);
}

void Barrier::wait(unsigned thread) {
  assert(thread < nThreads);
  uint32_t epoch = ++counts[thread].epoch;
  for (unsigned r = 0; r < nRounds; ++r) {
    unsigned to = (thread + (1u << r)) % nThreads;
    lines[r * nThreads + to].epoch.store(epoch, std::memory_order_release);
    // The teller may already be one barrier ahead: any epoch from ours on will do. The difference
    // is signed, so that the counter may wrap.
    const std::atomic<uint32_t> &heard = lines[r * nThreads + thread].epoch;
    spinThenYield(spins,
                  [&] { return int32_t(heard.load(std::memory_order_acquire) - epoch) >= 0; });
  }
}

} // namespace vetro
