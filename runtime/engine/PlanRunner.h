// Walks the plan: every thread calls each step on its range of units.
#pragma once

#include "runtime/abi/Plan.h"
#include "runtime/engine/Model.h"
#include "runtime/memory/KvCache.h"

#include <chrono>

namespace vetro {

class PlanRunner;

/// Called between steps. `wants` is asked once per step and run; `after` runs on one thread, alone,
/// when all threads have finished the step.
class StepObserver {
public:
  virtual ~StepObserver() = default;
  virtual bool wants(uint32_t step) = 0;
  virtual void after(uint32_t step, PlanRunner &runner) = 0;
};

/// When steps began, on the calling thread: from one's begin to the next one's is its time, waiting
/// at its barrier included. Reading the clock costs 20 ns a step.
class StepClock {
public:
  using Clock = std::chrono::steady_clock;
  explicit StepClock(size_t nSteps) : sums(nSteps) {}
  void clear() { std::fill(sums.begin(), sums.end(), Clock::duration::zero()); }
  void begin(size_t step) {
    Clock::time_point now = Clock::now();
    if (step > 0)
      sums[step - 1] += now - last;
    last = now;
  }
  /// Of each step, summed over the micro-batches since clear().
  std::vector<double> microseconds() const {
    std::vector<double> us;
    for (Clock::duration d : sums)
      us.push_back(std::chrono::duration<double, std::micro>(d).count());
    return us;
  }

private:
  std::vector<Clock::duration> sums;
  Clock::time_point last;
};

/// Arena, operand tables and resolved functions of one session.
class PlanRunner {
public:
  /// Takes all memory that a run needs: nothing is allocated later.
  /// `inputs`: addresses of the batch's arrays, in the order of planInputs; must outlive the
  /// runner.
  static llvm::Expected<PlanRunner> create(const Model &model, KvCache &cache,
                                           llvm::ArrayRef<const int32_t *> inputs,
                                           uint32_t maxTokens, uint32_t maxOutputs,
                                           uint32_t maxCells);

  /// Runs all steps on the batch.
  void run(const VtBatch &batch, StepObserver *observer = nullptr, StepClock *clock = nullptr);

  /// [nOutputs, nVocab] of the last run.
  const float *logits() const;
  /// Address of an operand of a step.
  const void *address(uint32_t step, uint32_t operand) const {
    return operands[firstOperand[step] + operand];
  }
  void *address(uint32_t step, uint32_t operand) { return operands[firstOperand[step] + operand]; }
  const VtBatch &batch() const { return *current; }
  /// Puts another function in a step's place and returns the one that was there: tests of what
  /// finds faults plant them so.
  VtStep replaceStep(uint32_t step, VtStep function) {
    return std::exchange(functions[step], function);
  }
  uint64_t arenaBytes() const { return arena.size(); }

private:
  const Model *model = nullptr;
  Region arena;
  std::vector<uint64_t> bufferOffsets;
  std::vector<VtStep> functions;
  std::vector<void *> operands; ///< of all steps, one after the other
  std::vector<uint32_t> firstOperand;
  uint64_t scratchOffset = 0, scratchStride = 0;
  const VtBatch *current = nullptr;
};

} // namespace vetro
