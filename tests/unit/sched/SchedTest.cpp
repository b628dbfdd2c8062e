// Thread pool and barrier: every thread runs, writes are seen, nothing allocates, nothing hangs.
#include "runtime/sched/Affinity.h"
#include "runtime/sched/Range.h"
#include "runtime/sched/ThreadPool.h"
#include "tests/unit/Catch.h"
#include "tests/unit/CountAllocations.h"
#include "tests/unit/TestData.h"
#include <cstdio>
#include <sched.h>
#include <thread>
#include <time.h>
#include <vector>

using namespace vetro;
using test::allocationCount;

static std::unique_ptr<ThreadPool> makePool(unsigned n, bool pin = true) {
  return llvm::cantFail(ThreadPool::create({.nThreads = n, .pin = pin}));
}

TEST_CASE("ranges cover the units once, at aligned edges") {
  CHECK(threadRange(10, 4, 0, 2) == Range{0, 8});
  CHECK(threadRange(10, 4, 1, 2) == Range{8, 10});
  for (uint32_t count : {0u, 1u, 7u, 16u, 1000u, 0xffffffffu})
    for (uint32_t align : {1u, 4u, 16u})
      for (uint32_t n : {1u, 2u, 3u, 7u}) {
        uint32_t next = 0;
        for (uint32_t t = 0; t < n; ++t) {
          Range r = threadRange(count, align, t, n);
          REQUIRE(r.begin == next);
          REQUIRE(r.end >= r.begin);
          REQUIRE((r.end == count || r.end % align == 0));
          next = r.end;
        }
        REQUIRE(next == count);
      }
}

TEST_CASE("a job runs once on each thread and its writes are seen") {
  for (unsigned n : {1u, 2u, 3u, 8u}) {
    auto pool = makePool(n);
    REQUIRE(pool->size() == n);
    std::vector<unsigned> calls(n * 16, 0); // plain memory: the pool must order the accesses
    for (int job = 1; job <= 200; ++job) {
      pool->run([&](unsigned t) { ++calls[t * 16]; });
      for (unsigned t = 0; t < n; ++t)
        REQUIRE(calls[t * 16] == unsigned(job));
    }
  }
}

TEST_CASE("thread 0 is the caller, the others are not") {
  auto pool = makePool(3);
  std::vector<std::thread::id> ids(3);
  pool->run([&](unsigned t) { ids[t] = std::this_thread::get_id(); });
  CHECK(ids[0] == std::this_thread::get_id());
  CHECK(ids[1] != ids[0]);
  CHECK(ids[2] != ids[0]);
  CHECK(ids[1] != ids[2]);
}

// Each step reads what its neighbour wrote in the step before: a barrier that lets one thread
// through early makes a difference.
TEST_CASE("the barrier separates steps") {
  for (unsigned n : {1u, 2u, 3u, 5u, 8u}) {
    auto pool = makePool(n);
    const unsigned nSteps = n <= 3 ? 2000 : 200;
    std::vector<unsigned> a(n * 16, 0), b(n * 16, 0);
    std::vector<unsigned> wrong(n * 16, 0);
    pool->run([&](unsigned t) {
      for (unsigned step = 1; step <= nSteps; ++step) {
        auto &from = step % 2 ? a : b, &to = step % 2 ? b : a;
        for (unsigned other = 0; other < n; ++other)
          wrong[t * 16] += from[other * 16] != step - 1;
        to[t * 16] = step;
        pool->barrier(t);
      }
    });
    for (unsigned t = 0; t < n; ++t)
      CHECK(wrong[t * 16] == 0);
  }
}

TEST_CASE("sleeping workers wake up") {
  auto pool = makePool(2);
  unsigned sum = 0;
  std::mutex mutex;
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30)); // longer than any spinning
    pool->run([&](unsigned t) {
      std::lock_guard<std::mutex> lock(mutex);
      sum += t + 1;
    });
  }
  CHECK(sum == 9);
}

TEST_CASE("idle workers cost no processor time") {
  auto pool = makePool(4);
  pool->run([](unsigned) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  auto cpuMs = [] {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
  };
  double before = cpuMs();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(cpuMs() - before < 20);
}

TEST_CASE("run and barrier do not allocate") {
  if (!test::countsAllocations)
    return test::skip("allocations cannot be counted under the thread sanitizer");
  auto pool = makePool(3);
  pool->run([](unsigned) {});
  size_t before = allocationCount();
  for (int i = 0; i < 100; ++i)
    pool->run([&](unsigned t) {
      for (int step = 0; step < 5; ++step)
        pool->barrier(t);
    });
  CHECK(allocationCount() == before);
  CHECK(before > 0); // the counter counts
}

TEST_CASE("pools start and stop, with and without a job") {
  for (int i = 0; i < 20; ++i) {
    unsigned n = 1 + i % 5;
    auto pool = makePool(n, i % 2);
    std::atomic<unsigned> calls{0};
    if (i % 3)
      pool->run([&](unsigned) { ++calls; });
    CHECK(calls.load() == (i % 3 ? n : 0));
  }
}

TEST_CASE("pinning leaves the caller as it was and stays inside the allowed set") {
  cpu_set_t before, after;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  auto cpus = allowedCpus();
  CHECK(cpus.size() == size_t(CPU_COUNT(&before)));
  unsigned n = 2 * cpus.size();
  std::vector<cpu_set_t> masks(n);
  makePool(n)->run([&](unsigned t) { sched_getaffinity(0, sizeof(cpu_set_t), &masks[t]); });
  for (unsigned t = 0; t < n; ++t) {
    CHECK(CPU_COUNT(&masks[t]) == 1);
    CHECK(CPU_ISSET(cpus[t % cpus.size()], &masks[t]));
  }
  REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
  makePool(2, false)->run([&](unsigned t) { sched_getaffinity(0, sizeof(cpu_set_t), &masks[t]); });
  CHECK(CPU_EQUAL(&masks[1], &before));
}

TEST_CASE("bad thread counts are errors") {
  for (unsigned n : {0u, ThreadPool::maxThreads + 1}) {
    auto pool = ThreadPool::create({.nThreads = n});
    REQUIRE(!pool);
    CHECK(llvm::toString(pool.takeError()).find("expected 1 to 1024") != std::string::npos);
  }
}

// Not a check (the machine may be busy): prints what a barrier and an empty job cost.
// Run with: unit_sched "[.speed]"
TEST_CASE("cost of a barrier", "[.speed]") {
  auto now = [] {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
  };
  auto pool = makePool(2);
  const int n = 100000;
  double start = now();
  pool->run([&](unsigned t) {
    for (int i = 0; i < n; ++i)
      pool->barrier(t);
  });
  double barriers = now() - start;
  start = now();
  for (int i = 0; i < 10000; ++i)
    pool->run([](unsigned) {});
  std::printf("barrier %.0f ns, empty run %.0f ns\n", barriers / n, (now() - start) / 10000);
  CHECK(barriers > 0);
}
