// Three matmuls of one x -> qkv_matmul.
#include "passes/KernelTable.h"
#include "passes/Passes.h"
#include "passes/Site.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace vetro {
#define GEN_PASS_DEF_FUSEQKV
#include "passes/Passes.h.inc"

namespace {
struct FuseQkvPass : impl::FuseQkvBase<FuseQkvPass> {
  using FuseQkvBase::FuseQkvBase;

  void fuse(ArrayRef<ir::MatmulOp> group, const Sites &sites) {
    ir::MatmulOp q = group[0], k = group[1], v = group[2];
    if (!sites.enabled(q))
      return;
    for (ir::MatmulOp m : {k, v})
      if (!shareActivation(ir::storageFormat(q.getW()), ir::storageFormat(m.getW())))
        return sites.refused(q, "the weights want different activation formats");
    OpBuilder b(q);
    for (ir::MatmulOp m : {k, v})
      if (Operation *w = m.getW().getDefiningOp(); w && q->isBeforeInBlock(w))
        w->moveBefore(q);
    auto fused = ir::QkvMatmulOp::create(b, ir::resultNamesLoc({q, k, v}),
                                         TypeRange{q.getType(), k.getType(), v.getType()}, q.getX(),
                                         q.getW(), k.getW(), v.getW(), namesOf({q, k, v}));
    replace(q, fused.getQ(), {});
    replace(k, fused.getK(), {});
    replace(v, fused.getV(), {});
    sites.fired(fused, "3 matmuls -> qkv_matmul");
  }

  void runOnOperation() override {
    Sites sites("fuse-qkv", disable, explain);
    llvm::MapVector<Value, SmallVector<ir::MatmulOp>> byInput;
    for (ir::MatmulOp m : collect<ir::MatmulOp>(getOperation()))
      byInput[m.getX()].push_back(m);
    for (auto &[x, group] : byInput) {
      if (group.size() == 3)
        fuse(group, sites);
      else if (group.size() > 1)
        sites.refused(group.front(), Twine(group.size()) + " matmuls share this input, not 3");
    }
  }
};
} // namespace
} // namespace vetro
