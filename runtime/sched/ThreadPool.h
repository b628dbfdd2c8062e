// The engine's threads. One pool serves all sessions of an engine; it runs one job at a time.
#pragma once
#include "runtime/sched/Barrier.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <condition_variable>
#include <mutex>
#include <pthread.h>

namespace vetro {

/// N threads including the one that calls run().
class ThreadPool {
public:
  struct Options {
    unsigned nThreads = 1; ///< 1 .. maxThreads
    bool pin = true;       ///< bind thread t to the t-th allowed processor while it works
  };
  static constexpr unsigned maxThreads = 1024;

  /// Starts nThreads - 1 workers. Errors: a count outside 1..maxThreads; the system refuses a
  /// thread.
  static llvm::Expected<std::unique_ptr<ThreadPool>> create(Options options);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned size() const { return options.nThreads; }

  /// Calls fn(thread) for each thread in [0, size()), number 0 on the calling thread, and returns
  /// when all are done; what they wrote is visible then. One caller at a time; not from inside a
  /// job. While it runs, the calling thread is bound too; its own affinity comes back after.
  void run(llvm::function_ref<void(unsigned)> fn);

  /// Inside a job: waits until all size() threads have called it.
  void barrier(unsigned thread) { steps.wait(thread); }

private:
  struct Worker {
    ThreadPool *pool;
    unsigned index;
    pthread_t handle;
  };
  explicit ThreadPool(Options options, llvm::SmallVector<unsigned> cpus);
  void work(unsigned index);
  bool waitForJob(uint32_t seen);

  Options options;
  llvm::SmallVector<unsigned> cpus;
  unsigned spins;
  Barrier steps;
  llvm::SmallVector<Worker> workers; // sized once: the threads hold pointers into it
  llvm::function_ref<void(unsigned)> job;
  alignas(64) std::atomic<uint32_t> epoch{0}; // a new job raises it
  alignas(64) std::atomic<uint32_t> running{0};
  std::atomic<bool> stopping{false};
  std::mutex mutex; // of the sleep below
  std::condition_variable wake;
  unsigned sleeping = 0;
};

} // namespace vetro
