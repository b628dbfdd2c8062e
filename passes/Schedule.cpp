// Marks the steps after which threads must wait for each other.
#include "compiler/ir/Extents.h"
#include "passes/Passes.h"
#include "passes/Site.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace vetro {
#define GEN_PASS_DEF_SCHEDULE
#include "passes/Passes.h.inc"

namespace {

/// What a step reads and writes: numbers of buffers, and the symbols of states.
struct Access {
  SmallVector<int64_t> reads, writes;
  SmallVector<StringRef> stateReads, stateWrites;
};

Access accessOf(Operation *op) {
  Access a;
  for (Value v : op->getOperands()) {
    Operation *def = ir::storageOf(v).getDefiningOp();
    if (auto get = dyn_cast_or_null<ir::GetStateOp>(def))
      (isa<ir::KvStoreOp, ir::NormRopeStoreOp>(op) ? a.stateWrites : a.stateReads)
          .push_back(get.getState());
    else if (def && def->hasAttr("vetro.buffers"))
      a.reads.push_back(def->getAttrOfType<DenseI64ArrayAttr>(
          "vetro.buffers")[cast<OpResult>(ir::storageOf(v)).getResultNumber()]);
  }
  a.writes.assign(op->getAttrOfType<DenseI64ArrayAttr>("vetro.buffers").asArrayRef());
  return a;
}

template <typename T> bool overlap(ArrayRef<T> a, ArrayRef<T> b) {
  return llvm::any_of(a, [&](T x) { return llvm::is_contained(b, x); });
}

/// Whether `next` must not start before all threads have finished the steps of `group`.
bool conflicts(const Access &group, const Access &next) {
  return overlap<int64_t>(group.writes, next.reads) || overlap<int64_t>(group.reads, next.writes) ||
         overlap<int64_t>(group.writes, next.writes) ||
         overlap<StringRef>(group.stateWrites, next.stateReads) ||
         overlap<StringRef>(group.stateReads, next.stateWrites);
}

struct SchedulePass : impl::ScheduleBase<SchedulePass> {
  using ScheduleBase::ScheduleBase;

  void runOnOperation() override {
    Builder b(&getContext());
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      Access group;
      Operation *last = nullptr;
      for (Operation &op : func.front()) {
        if (!ir::isStep(&op))
          continue;
        Access next = accessOf(&op);
        if (last && conflicts(group, next)) {
          last->setAttr("vetro.barrier", b.getUnitAttr());
          group = {};
        }
        llvm::append_range(group.reads, next.reads);
        llvm::append_range(group.writes, next.writes);
        llvm::append_range(group.stateReads, next.stateReads);
        llvm::append_range(group.stateWrites, next.stateWrites);
        last = &op;
      }
      if (last)
        last->setAttr("vetro.barrier", b.getUnitAttr());
    }
  }
};
} // namespace
} // namespace vetro
