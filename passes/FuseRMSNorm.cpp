// rms_norm, mul -> rms_norm_mul; rms_norm_mul, add -> rms_norm_mul_add.
#include "passes/Passes.h"
#include "passes/Site.h"

using namespace mlir;

namespace vetro {
#define GEN_PASS_DEF_FUSERMSNORM
#include "passes/Passes.h.inc"

namespace {
struct FuseRMSNormPass : impl::FuseRMSNormBase<FuseRMSNormPass> {
  using FuseRMSNormBase::FuseRMSNormBase;

  void fuseMul(ir::MulOp mul, const Sites &sites) {
    auto norm = mul.getA().getDefiningOp<ir::RMSNormOp>();
    if (!norm || !sites.enabled(mul))
      return;
    if (!norm.getResult().hasOneUse())
      return sites.refused(mul, "the bare norm is read elsewhere too");
    if (ir::shapeOf(mul.getB()).getRank() != 1)
      return sites.refused(mul, "the factor is no vector");
    OpBuilder b(mul);
    auto fused = ir::RMSNormMulOp::create(b, ir::fusedNameLoc(ir::nameOf(mul), {norm, mul}),
                                          mul.getType(), norm.getX(), mul.getB(), norm.getEpsAttr(),
                                          namesOf({mul.getOperation()}));
    replace(mul, fused->getResults(), {norm});
    sites.fired(fused, "rms_norm, mul -> rms_norm_mul");
  }

  void fuseAdd(ir::AddOp add, const Sites &sites) {
    auto norm = onlyFor<ir::RMSNormMulOp>(add.getA());
    if (!norm || ir::shapeOf(norm.getX()).getRank() != 2 || !sites.enabled(add))
      return;
    OpBuilder b(add);
    auto fused = ir::RMSNormMulAddOp::create(b, ir::fusedNameLoc(ir::nameOf(add), {norm, add}),
                                             add.getType(), norm.getX(), norm.getW(), add.getB(),
                                             norm.getEpsAttr(), norm.getNamesAttr());
    replace(add, fused->getResults(), {norm});
    sites.fired(fused, "rms_norm_mul, add -> rms_norm_mul_add");
  }

  void runOnOperation() override {
    Sites sites("fuse-rms-norm", disable, explain);
    for (ir::MulOp mul : collect<ir::MulOp>(getOperation()))
      fuseMul(mul, sites);
    for (ir::AddOp add : collect<ir::AddOp>(getOperation()))
      fuseAdd(add, sites);
  }
};
} // namespace
} // namespace vetro
