// Gives every value a buffer of the arena.
#include "compiler/ir/Extents.h"
#include "passes/Passes.h"
#include "passes/Site.h"

using namespace mlir;

namespace vetro {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Passes.h.inc"

namespace {

/// A buffer, and the largest value of each kind of extent that it has held.
struct Buffer {
  ir::Extent extent;
  bool free = false;
  bool shared = true; ///< others may have it after its value
};

struct PlanMemoryPass : impl::PlanMemoryBase<PlanMemoryPass> {
  using PlanMemoryBase::PlanMemoryBase;

  static bool sameKind(const ir::Extent &a, const ir::Extent &b) {
    return a.tokens == b.tokens && a.outputs == b.outputs && a.cells == b.cells;
  }

  /// The smallest free buffer of this kind that holds `need`, else the largest, grown; else new.
  unsigned take(const ir::Extent &need, bool shared) {
    int best = -1;
    for (auto [i, buffer] : llvm::enumerate(buffers)) {
      if (!shared || !buffer.free || !sameKind(buffer.extent, need))
        continue;
      uint64_t old = best < 0 ? 0 : buffers[best].extent.scale, now = buffer.extent.scale;
      bool fits = now >= need.scale;
      if (best < 0 || (fits ? old < need.scale || now < old : old < need.scale && now > old))
        best = int(i);
    }
    if (best < 0) {
      best = int(buffers.size());
      buffers.push_back({need});
    }
    buffers[best].free = false;
    buffers[best].shared = shared;
    buffers[best].extent.scale = std::max(buffers[best].extent.scale, need.scale);
    return best;
  }

  /// The last step that reads each value's memory.
  static llvm::DenseMap<Value, Operation *> lastReads(func::FuncOp func) {
    llvm::DenseMap<Value, Operation *> lastRead;
    for (Operation &op : func.front())
      if (!isa<ir::ReshapeOp>(op))
        for (Value v : op.getOperands())
          lastRead[ir::storageOf(v)] = &op;
    return lastRead;
  }

  void release(unsigned buffer) { buffers[buffer].free = buffers[buffer].shared; }

  void explainBuffer(Operation *op, unsigned number, size_t before, const Sites &sites) {
    if (number < before)
      return sites.fired(op, "buffer " + Twine(number) + ", free again");
    sites.refused(op, "no free buffer of its kind: buffer " + Twine(number) + " is new");
  }

  void plan(func::FuncOp func, const Sites &sites) {
    llvm::DenseMap<Value, Operation *> lastRead = lastReads(func);
    llvm::DenseMap<Value, unsigned> bufferOf;
    Builder b(func.getContext());
    for (Operation &op : func.front()) {
      if (!ir::isStep(&op))
        continue;
      SmallVector<int64_t> numbers;
      bool shared = op.getNumResults() == 0 || sites.enabled(&op);
      for (Value v : op.getResults()) {
        size_t before = buffers.size();
        numbers.push_back(bufferOf[v] = take(ir::byteCount(v), shared));
        if (shared)
          explainBuffer(&op, bufferOf[v], before, sites);
      }
      op.setAttr("vetro.buffers", b.getDenseI64ArrayAttr(numbers));
      for (Value v : op.getOperands())
        if (Value s = ir::storageOf(v); bufferOf.count(s) && lastRead.lookup(s) == &op)
          release(bufferOf[s]);
      for (Value v : op.getResults())
        if (!lastRead.count(v))
          release(bufferOf[v]);
    }
  }

  void runOnOperation() override {
    buffers.clear();
    Sites sites("plan-memory", disable, explain);
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isDeclaration())
        plan(func, sites);
    Builder b(&getContext());
    getOperation()->setAttr("vetro.num_buffers", b.getI64IntegerAttr(buffers.size()));
  }

  std::vector<Buffer> buffers;
};
} // namespace
} // namespace vetro
