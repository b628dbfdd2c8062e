// Starting, feeding and stopping the threads.
#include "runtime/sched/ThreadPool.h"
#include "runtime/sched/Affinity.h"
#include <cassert>
#include <cstring>

namespace vetro {

// About 10 microseconds on current x86 (a pause is 50 ns): longer than the differences between
// threads in a step, short against a time slice.
static constexpr unsigned barrierSpins = 200;
// Between two tokens a worker stays awake while the caller samples: about 200 microseconds. Waking
// a sleeper costs 50.
static constexpr unsigned idleSpins = 4000;

ThreadPool::ThreadPool(Options options, llvm::SmallVector<unsigned> allowed)
    : options(options), cpus(std::move(allowed)),
      spins(options.nThreads <= cpus.size() ? barrierSpins : 0), steps(options.nThreads, spins) {}

llvm::Expected<std::unique_ptr<ThreadPool>> ThreadPool::create(Options options) {
  if (options.nThreads == 0 || options.nThreads > maxThreads)
    return llvm::createStringError("threads: found %u, expected 1 to %u; give the number of "
                                   "processor cores",
                                   options.nThreads, maxThreads);
  std::unique_ptr<ThreadPool> pool(new ThreadPool(options, allowedCpus()));
  pool->workers.reserve(options.nThreads - 1);
  for (unsigned i = 1; i < options.nThreads; ++i) {
    Worker &worker = pool->workers.emplace_back(Worker{pool.get(), i, {}});
    auto start = [](void *arg) -> void * {
      auto *self = static_cast<Worker *>(arg);
      self->pool->work(self->index);
      return nullptr;
    };
    if (int code = pthread_create(&worker.handle, nullptr, start, &worker)) {
      pool->workers.pop_back();
      return llvm::createStringError(std::error_code(code, std::generic_category()),
                                     "thread %u of %u cannot be started: %s; use fewer threads", i,
                                     options.nThreads, std::strerror(code));
    }
    if (options.pin)
      bindThread(worker.handle, pool->cpus[i % pool->cpus.size()]);
  }
  return pool;
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping.store(true, std::memory_order_relaxed);
    epoch.fetch_add(1, std::memory_order_release);
  }
  wake.notify_all();
  for (Worker &worker : workers)
    pthread_join(worker.handle, nullptr);
}

/// Returns when a job newer than `seen` is there (true) or the pool stops (false).
bool ThreadPool::waitForJob(uint32_t seen) {
  auto news = [&] { return epoch.load(std::memory_order_acquire) != seen; };
  for (unsigned i = 0, n = spins ? idleSpins : 0; i < n && !news(); ++i)
    spinPause();
  if (!news()) {
    std::unique_lock<std::mutex> lock(mutex);
    ++sleeping;
    wake.wait(lock, news);
    --sleeping;
  }
  return !stopping.load(std::memory_order_relaxed);
}

void ThreadPool::work(unsigned index) {
  for (uint32_t seen = 0; waitForJob(seen); ++seen) {
    job(index);
    running.fetch_sub(1, std::memory_order_release);
  }
}

/// Binds the calling thread for its lifetime and gives back the affinity it had.
namespace {
class BoundCaller {
public:
  BoundCaller(bool wanted, unsigned cpu) {
    bound = wanted && pthread_getaffinity_np(pthread_self(), sizeof before, &before) == 0 &&
            bindThread(pthread_self(), cpu);
  }
  ~BoundCaller() {
    if (bound)
      pthread_setaffinity_np(pthread_self(), sizeof before, &before);
  }

private:
  bool bound;
  cpu_set_t before;
};
} // namespace

void ThreadPool::run(llvm::function_ref<void(unsigned)> fn) {
  if (workers.empty())
    return fn(0);
  BoundCaller bound(options.pin, cpus[0]);
  assert(running.load() == 0 && "a job is running: one caller at a time");
  job = fn;
  running.store(workers.size(), std::memory_order_relaxed);
  bool sleepers;
  {
    std::lock_guard<std::mutex> lock(mutex);
    epoch.fetch_add(1, std::memory_order_release);
    sleepers = sleeping != 0;
  }
  if (sleepers)
    wake.notify_all();
  fn(0);
  spinThenYield(spins, [&] { return running.load(std::memory_order_acquire) == 0; });
}

} // namespace vetro
