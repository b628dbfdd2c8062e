// A session: KV cache, arena and batch arrays of one user of a model. Used by one thread at a time.
#pragma once

#include "runtime/engine/Evaluator.h"
#include "runtime/engine/PlanRunner.h"

namespace vetro {

class Session : public Evaluator {
public:
  /// Takes all memory that running needs. Error: it is not there.
  static llvm::Expected<std::unique_ptr<Session>> create(std::shared_ptr<const Model> model,
                                                         SessionOptions options);

  llvm::Error decode(llvm::ArrayRef<BatchToken> batch,
                     llvm::function_ref<void(size_t, llvm::ArrayRef<float>)> onLogits) override;
  uint32_t nCtx() const override { return cache.nCtx(); }
  uint32_t length(uint32_t sequence) const override { return cache.length(sequence); }
  void truncate(uint32_t sequence, uint32_t n) override { cache.truncate(sequence, n); }

  /// Runs a token of sequence 0, the only one, again at its position, which gives the same bits as
  /// before; `look` gets its logits while the session is where it was then. Afterwards it is where
  /// it was. Errors: decode()'s, look's.
  llvm::Error revisit(uint32_t position, int32_t id,
                      llvm::function_ref<llvm::Error(llvm::ArrayRef<float> logits)> look);

  /// Watches the steps of every micro-batch; null: nobody does.
  void observe(StepObserver *o) { observer = o; }
  /// Times the steps of every micro-batch; null: nobody does.
  void timeSteps(StepClock *c) { clock = c; }
  const Model &model() const { return *owner; }
  const KvCache &kvCache() const { return cache; }
  const PlanRunner &runner() const { return plan; }
  PlanRunner &runner() { return plan; }
  const SessionOptions &options() const { return opts; }

private:
  explicit Session(std::shared_ptr<const Model> model) : owner(std::move(model)) {}
  size_t fill(llvm::ArrayRef<BatchToken> batch, size_t begin);
  void listCells();

  std::shared_ptr<const Model> owner;
  SessionOptions opts;
  KvCache cache;
  std::vector<int32_t> tokens, positions, sequences, slots, outputs; ///< [nUbatch]
  std::vector<int32_t> cells, cellPositions, cellSequences; ///< empty where the plan reads none
  VtBatch batch = {};
  PlanRunner plan;
  StepObserver *observer = nullptr;
  StepClock *clock = nullptr;
};

} // namespace vetro
