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

/// Why `next` must not start before all threads have finished the steps of `group`; empty: it may.
StringRef conflict(const Access &group, const Access &next) {
  if (overlap<int64_t>(group.writes, next.reads) ||
      overlap<StringRef>(group.stateWrites, next.stateReads))
    return "reads what was written before";
  if (overlap<int64_t>(group.reads, next.writes) ||
      overlap<StringRef>(group.stateReads, next.stateWrites))
    return "writes where others may still read";
  return overlap<int64_t>(group.writes, next.writes) ? "writes where others write" : "";
}

/// Every step has a buffer for each of its results: plan-memory has run.
LogicalResult verifyBuffers(func::FuncOp func) {
  for (Operation &op : func.front()) {
    auto buffers = op.getAttrOfType<DenseI64ArrayAttr>("vetro.buffers");
    if (ir::isStep(&op) && (!buffers || buffers.size() != op.getNumResults()))
      return op.emitOpError("has no buffers for its results; run plan-memory first");
  }
  return success();
}

struct SchedulePass : impl::ScheduleBase<SchedulePass> {
  using ScheduleBase::ScheduleBase;

  /// Ends the group of steps with `last`, because the next step `why`.
  static void endGroup(Operation *last, const Sites &sites, const Twine &why) {
    last->setAttr("vetro.barrier", UnitAttr::get(last->getContext()));
    sites.fired(last, "barrier, " + why);
  }

  void schedule(func::FuncOp func, const Sites &sites) {
    Access group;
    Operation *last = nullptr;
    for (Operation &op : func.front()) {
      if (!ir::isStep(&op))
        continue;
      Access next = accessOf(&op);
      if (last) {
        StringRef why = conflict(group, next);
        if (!why.empty())
          endGroup(last, sites, "'" + ir::nameOf(&op) + "' " + why);
        else if (sites.enabled(last))
          sites.refused(last, "'" + ir::nameOf(&op) + "' depends on nothing of its group");
        else
          endGroup(last, sites, "asked for");
        if (last->hasAttr("vetro.barrier"))
          group = {};
      }
      llvm::append_range(group.reads, next.reads);
      llvm::append_range(group.writes, next.writes);
      llvm::append_range(group.stateReads, next.stateReads);
      llvm::append_range(group.stateWrites, next.stateWrites);
      last = &op;
    }
    if (last)
      endGroup(last, sites, "the last step");
  }

  void runOnOperation() override {
    Sites sites("schedule", disable, explain);
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isDeclaration())
        continue;
      if (failed(verifyBuffers(func)))
        return signalPassFailure();
      schedule(func, sites);
    }
  }
};
} // namespace
} // namespace vetro
