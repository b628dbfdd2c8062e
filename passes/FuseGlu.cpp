// Two matmuls of one x, activation, mul -> glu.
#include "passes/KernelTable.h"
#include "passes/Passes.h"
#include "passes/Site.h"

using namespace mlir;

namespace vetro {
#define GEN_PASS_DEF_FUSEGLU
#include "passes/Passes.h.inc"

namespace {
struct FuseGluPass : impl::FuseGluBase<FuseGluPass> {
  using FuseGluBase::FuseGluBase;

  void fuse(ir::MulOp mul, const Sites &sites) {
    auto act = mul.getA().getDefiningOp<ir::UnaryOp>();
    if (!act || !sites.enabled(mul))
      return;
    auto gate = onlyFor<ir::MatmulOp>(act.getX());
    auto up = onlyFor<ir::MatmulOp>(mul.getB());
    if (!act.getResult().hasOneUse() || !gate || !up)
      return sites.refused(mul, "gate or up is no matmul, or is read elsewhere too");
    if (gate.getX() != up.getX())
      return sites.refused(mul, "gate and up read different inputs");
    if (!shareActivation(ir::storageFormat(gate.getW()), ir::storageFormat(up.getW())))
      return sites.refused(mul, "the weights want different activation formats");
    OpBuilder b(mul);
    auto fused = ir::GluOp::create(b, ir::fusedNameLoc(ir::nameOf(mul), {gate, up, act, mul}),
                                   mul.getType(), gate.getX(), gate.getW(), up.getW(),
                                   act.getKindAttr(), namesOf({gate, up, act, mul}));
    replace(mul, fused->getResults(), {act, gate, up});
    sites.fired(fused, "2 matmuls, unary, mul -> glu");
  }

  void runOnOperation() override {
    Sites sites("fuse-glu", disable, explain);
    for (ir::MulOp mul : collect<ir::MulOp>(getOperation()))
      fuse(mul, sites);
  }
};
} // namespace
} // namespace vetro
