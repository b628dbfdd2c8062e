// Where the interpreter reads what a run read: its packed weights, its cache, its cells.
#pragma once

#include "compiler/reference/Interpreter.h"
#include "runtime/abi/Plan.h"
#include "runtime/memory/KvCache.h"
#include "runtime/memory/Weights.h"

namespace vetro {

/// The packed weights of the model.
struct PackedSource : ref::WeightSource {
  explicit PackedSource(const Weights &weights) : weights(weights) {}
  void readRow(llvm::StringRef name, int64_t row, float *out) const override {
    bool found = weights.readRow(name, row, out);
    assert(found && "the graph names only weights of the plan");
    (void)found;
  }
  void readMinima(llvm::StringRef name, int64_t row, float *out) const override {
    weights.readMinima(name, row, out);
  }
  const Weights &weights;
};

/// The session's cache; stores are dropped, since the run has stored already.
struct CacheState : ref::StateStore {
  CacheState(const KvCache &cache, const Plan &plan) : cache(cache) {
    for (auto [i, state] : llvm::enumerate(plan.states))
      index[state.name] = i;
  }
  void store(llvm::StringRef, int32_t, const float *, int64_t) override {}
  void load(llvm::StringRef state, int32_t slot, float *out, int64_t) const override {
    cache.read(index.lookup(state), slot / cache.nCtx(), slot % cache.nCtx(), out);
  }
  const KvCache &cache;
  llvm::StringMap<size_t> index;
};

/// Cells of all sequences, as the graph's last three inputs.
struct CellLists {
  ref::Tensor cells, positions, sequences;
  explicit CellLists(const KvCache &cache) {
    std::vector<int32_t> c, p, s;
    for (uint32_t seq = 0; seq < cache.nSequences(); ++seq)
      for (uint32_t pos = 0; pos < cache.length(seq); ++pos) {
        c.push_back(int32_t(seq * cache.nCtx() + pos));
        p.push_back(int32_t(pos));
        s.push_back(int32_t(seq));
      }
    cells = ref::Tensor::ofIds(c), positions = ref::Tensor::ofIds(p),
    sequences = ref::Tensor::ofIds(s);
  }
  /// The list that v stands for; null for other values.
  const ref::Tensor *of(mlir::Value v) const {
    auto arg = llvm::dyn_cast<mlir::BlockArgument>(v);
    if (!arg || arg.getArgNumber() < 5)
      return nullptr;
    return arg.getArgNumber() == 5 ? &cells : arg.getArgNumber() == 6 ? &positions : &sequences;
  }
};

} // namespace vetro
