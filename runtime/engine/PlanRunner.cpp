// The plan runner.
#include "runtime/engine/PlanRunner.h"

namespace vetro {

llvm::Expected<PlanRunner> PlanRunner::create(const Model &model, KvCache &cache,
                                              llvm::ArrayRef<const int32_t *> inputs,
                                              uint32_t maxTokens, uint32_t maxOutputs,
                                              uint32_t maxCells) {
  PlanRunner r;
  r.model = &model;
  const Plan &plan = model.plan();
  uint64_t bytes = 0;
  for (const PlanExtent &e : plan.buffers) {
    r.bufferOffsets.push_back(bytes);
    bytes += alignLine(e.of(maxTokens, maxOutputs, maxCells));
  }
  for (const PlanStep &step : plan.steps)
    r.scratchStride =
        std::max(r.scratchStride, alignLine(step.scratch.of(maxTokens, maxOutputs, maxCells)));
  r.scratchOffset = bytes;
  bytes += r.scratchStride * model.pool().size();
  auto arena = Region::reserve(bytes, "the arena");
  if (!arena)
    return arena.takeError();
  r.arena = std::move(*arena);

  for (const PlanStep &step : plan.steps) {
    auto function = model.code().step(step.function);
    if (!function)
      return function.takeError();
    r.functions.push_back(*function);
    r.firstOperand.push_back(r.operands.size());
    for (const PlanOperand &o : step.operands) {
      if (o.table == PlanTable::Weight)
        r.operands.push_back(model.weights().address(o.index));
      else if (o.table == PlanTable::State)
        r.operands.push_back(cache.address(o.index));
      else if (o.table == PlanTable::Buffer)
        r.operands.push_back(r.arena.data() + r.bufferOffsets[o.index]);
      else
        r.operands.push_back(const_cast<int32_t *>(inputs[o.index]));
    }
  }
  return r;
}

void PlanRunner::run(const VtBatch &batch, StepObserver *observer, StepClock *clock) {
  const Plan &plan = model->plan();
  ThreadPool &pool = model->pool();
  current = &batch;
  pool.run([&](unsigned thread) {
    for (uint32_t i = 0; i < plan.steps.size(); ++i) {
      const PlanStep &step = plan.steps[i];
      if (clock && thread == 0)
        clock->begin(i);
      VtArgs args{operands.data() + firstOperand[i], &batch, arena.data() + scratchOffset,
                  scratchStride};
      uint64_t units = step.units.of(batch.nTokens, batch.nOutputs, batch.nCells);
      uint64_t begin = units * thread / pool.size(), end = units * (thread + 1) / pool.size();
      if (begin < end)
        functions[i](&args, uint32_t(begin), uint32_t(end), thread);
      bool watched = observer && observer->wants(i);
      if (step.barrier || watched)
        pool.barrier(thread);
      if (!watched)
        continue;
      if (thread == 0)
        observer->after(i, *this);
      pool.barrier(thread);
    }
    if (clock && thread == 0)
      clock->begin(plan.steps.size());
  });
}

const float *PlanRunner::logits() const {
  return reinterpret_cast<const float *>(arena.data() + bufferOffsets[model->plan().logitsBuffer]);
}

} // namespace vetro
