// gather_rows, rms_norm_mul -> head_norm.
#include "passes/Passes.h"
#include "passes/Site.h"

using namespace mlir;

namespace vetro {
#define GEN_PASS_DEF_FUSEHEAD
#include "passes/Passes.h.inc"

namespace {
struct FuseHeadPass : impl::FuseHeadBase<FuseHeadPass> {
  using FuseHeadBase::FuseHeadBase;

  void fuse(ir::RMSNormMulOp norm, const Sites &sites) {
    auto rows = norm.getX().getDefiningOp<ir::GatherRowsOp>();
    if (!rows || !sites.enabled(norm))
      return;
    if (rows.getTable().getDefiningOp<ir::GetWeightOp>())
      return sites.refused(norm, "the rows come from a weight");
    if (!rows.getResult().hasOneUse())
      return sites.refused(norm, "the rows are read elsewhere too");
    OpBuilder b(norm);
    auto fused = ir::HeadNormOp::create(b, ir::fusedNameLoc(ir::nameOf(norm), {rows, norm}),
                                        norm.getType(), rows.getTable(), rows.getIds(), norm.getW(),
                                        norm.getEpsAttr(), norm.getNamesAttr());
    replace(norm, fused->getResults(), {rows});
    sites.fired(fused, "gather_rows, rms_norm_mul -> head_norm");
  }

  void runOnOperation() override {
    Sites sites("fuse-head", disable, explain);
    for (ir::RMSNormMulOp norm : collect<ir::RMSNormMulOp>(getOperation()))
      fuse(norm, sites);
  }
};
} // namespace
} // namespace vetro
