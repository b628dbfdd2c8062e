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
};

struct PlanMemoryPass : impl::PlanMemoryBase<PlanMemoryPass> {
  using PlanMemoryBase::PlanMemoryBase;

  static bool sameKind(const ir::Extent &a, const ir::Extent &b) {
    return a.tokens == b.tokens && a.outputs == b.outputs && a.cells == b.cells;
  }

  /// The smallest free buffer of this kind that holds `need`, else the largest, grown; else new.
  unsigned take(const ir::Extent &need) {
    int best = -1;
    for (auto [i, buffer] : llvm::enumerate(buffers)) {
      if (!buffer.free || !sameKind(buffer.extent, need))
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
    buffers[best].extent.scale = std::max(buffers[best].extent.scale, need.scale);
    return best;
  }

  void plan(func::FuncOp func) {
    // The last step that reads each value's memory.
    llvm::DenseMap<Value, Operation *> lastRead;
    for (Operation &op : func.front())
      if (!isa<ir::ReshapeOp>(op))
        for (Value v : op.getOperands())
          lastRead[ir::storageOf(v)] = &op;
    llvm::DenseMap<Value, unsigned> bufferOf;
    Builder b(func.getContext());
    for (Operation &op : func.front()) {
      if (!ir::isStep(&op))
        continue;
      SmallVector<int64_t> numbers;
      for (Value v : op.getResults())
        numbers.push_back(bufferOf[v] = take(ir::byteCount(v)));
      op.setAttr("vetro.buffers", b.getDenseI64ArrayAttr(numbers));
      for (Value v : op.getOperands())
        if (Value s = ir::storageOf(v); bufferOf.count(s) && lastRead.lookup(s) == &op)
          buffers[bufferOf[s]].free = true;
      for (Value v : op.getResults())
        if (!lastRead.count(v))
          buffers[bufferOf[v]].free = true;
    }
  }

  void runOnOperation() override {
    buffers.clear();
    for (auto func : getOperation().getOps<func::FuncOp>())
      plan(func);
    Builder b(&getContext());
    getOperation()->setAttr("vetro.num_buffers", b.getI64IntegerAttr(buffers.size()));
  }

  std::vector<Buffer> buffers;
};
} // namespace
} // namespace vetro
