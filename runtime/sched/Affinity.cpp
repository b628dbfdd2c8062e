// Reads the affinity mask and the core numbers from the kernel.
#include "runtime/sched/Affinity.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <sched.h>
#include <set>

namespace vetro {

/// The hardware threads of `cpu`'s core as the kernel lists them ("0,4"), the same text for each of
/// them; the processor's own number where the kernel does not say.
static std::string coreOf(unsigned cpu) {
  auto path =
      llvm::formatv("/sys/devices/system/cpu/cpu{0}/topology/thread_siblings_list", cpu).str();
  auto file = llvm::MemoryBuffer::getFileAsStream(path);
  if (!file)
    return std::to_string(cpu);
  return (*file)->getBuffer().trim().str();
}

llvm::SmallVector<unsigned> allowedCpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  llvm::SmallVector<unsigned> first, others;
  std::set<std::string> cores;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0)
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &mask))
        (cores.insert(coreOf(cpu)).second ? first : others).push_back(cpu);
  first.append(others);
  if (first.empty()) // more processors than a cpu_set_t holds
    first.push_back(0);
  return first;
}

bool bindThread(pthread_t thread, unsigned cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  return pthread_setaffinity_np(thread, sizeof mask, &mask) == 0;
}

} // namespace vetro
