// Weights are packed by all threads of a pool at once, while a fault handler is at work elsewhere:
// what the loader does, without a model. Also run under the thread sanitizer.
#include "runtime/memory/Signals.h"
#include "runtime/memory/Weights.h"
#include "runtime/sched/ThreadPool.h"
#include "tests/unit/Catch.h"
#include <random>

using namespace vetro;

/// Rows of q8_0 blocks whose scale is 1.
static std::vector<uint8_t> someRows(uint64_t rows, uint64_t width) {
  std::mt19937 random(5);
  std::vector<uint8_t> bytes(rows * rowBytes(Format::Q8_0, width));
  for (uint8_t &byte : bytes)
    byte = uint8_t(random());
  for (size_t at = 0; at < bytes.size(); at += formatInfo(Format::Q8_0).blockBytes)
    bytes[at] = 0, bytes[at + 1] = 0x3C; // 1 in f16
  return bytes;
}

static Weights packed(ThreadPool &pool, const PlanWeight &plan, const uint8_t *bytes) {
  Weights weights = llvm::cantFail(Weights::create(plan));
  uint64_t units = weights.units(0), n = pool.size();
  std::vector<char> faulted(n, true);
  for (int again = 0; again < 3; ++again)
    pool.run([&](unsigned t) {
      registerMappedRange(bytes + t, 1);
      weights.pack(0, bytes, units * t / n, units * (t + 1) / n);
      faulted[t] = faultInMappedRange(bytes + t) != nullptr;
      unregisterMappedRange(bytes + t);
    });
  CHECK(faulted == std::vector<char>(n));
  return weights;
}

TEST_CASE("threads pack disjoint tiles") {
  PlanWeight plan{"w", Format::Q8_0, "rows16", 100, 64}; // the last tile is not full
  std::vector<uint8_t> bytes = someRows(plan.rows, plan.width);
  auto one = llvm::cantFail(ThreadPool::create({.nThreads = 1}));
  auto three = llvm::cantFail(ThreadPool::create({.nThreads = 3}));
  Weights expected = packed(*one, plan, bytes.data()), found = packed(*three, plan, bytes.data());
  std::vector<float> a(plan.width), b(plan.width);
  for (int64_t row = 0; row < int64_t(plan.rows); ++row) {
    REQUIRE(expected.readRow("w", row, a.data()));
    REQUIRE(found.readRow("w", row, b.data()));
    REQUIRE(a == b);
    REQUIRE(a[0] == float(int8_t(bytes[row * rowBytes(plan.format, plan.width) + 2])));
  }
}
