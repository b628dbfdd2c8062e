// matmul, add -> matmul_add.
#include "passes/Passes.h"
#include "passes/Site.h"

using namespace mlir;

namespace vetro {
#define GEN_PASS_DEF_FUSERESIDUAL
#include "passes/Passes.h.inc"

namespace {
struct FuseResidualPass : impl::FuseResidualBase<FuseResidualPass> {
  using FuseResidualBase::FuseResidualBase;

  void fuse(ir::AddOp add, const Sites &sites) {
    auto matmul = add.getA().getDefiningOp<ir::MatmulOp>();
    if (!matmul || !sites.enabled(add))
      return;
    if (!matmul.getResult().hasOneUse())
      return sites.refused(add, "the product is read elsewhere too");
    if (ir::shapeOf(add.getB()).getRank() != 2)
      return sites.refused(add, "the other addend is a bias, not the residual stream");
    OpBuilder b(add);
    auto fused = ir::MatmulAddOp::create(b, ir::fusedNameLoc(ir::nameOf(add), {matmul, add}),
                                         add.getType(), matmul.getX(), matmul.getW(), add.getB(),
                                         namesOf({matmul.getOperation()}));
    replace(add, fused->getResults(), {matmul});
    sites.fired(fused, "matmul, add -> matmul_add");
  }

  void runOnOperation() override {
    Sites sites("fuse-residual", disable, explain);
    for (ir::AddOp add : collect<ir::AddOp>(getOperation()))
      fuse(add, sites);
  }
};
} // namespace
} // namespace vetro
