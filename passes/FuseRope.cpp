// [rms_norm_mul,] rope[, kv_store] -> norm_rope or norm_rope_store.
#include "passes/Passes.h"
#include "passes/Site.h"

using namespace mlir;

namespace vetro {
#define GEN_PASS_DEF_FUSEROPE
#include "passes/Passes.h.inc"

namespace {
struct FuseRopePass : impl::FuseRopeBase<FuseRopePass> {
  using FuseRopeBase::FuseRopeBase;

  /// The table that this rotation reads; one for all that rotate alike.
  Value tableFor(ir::RopeOp rope) {
    for (ir::RopeTableOp table : tables)
      if (table.getPositions() == rope.getPositions() && table.getFactors() == rope.getFactors() &&
          sameRotation(table, rope))
        return table;
    OpBuilder b(rope.getPositions().getContext());
    if (rope.getFactors())
      b.setInsertionPointAfterValue(rope.getFactors());
    else
      b.setInsertionPointToStart(rope->getBlock());
    int64_t tokens = ir::shapeOf(rope.getX()).getDimSize(0);
    auto type = RankedTensorType::get({tokens, int64_t(rope.getNDims() / 2), 2}, b.getF32Type());
    std::string name = "rope_table" + (tables.empty() ? "" : "." + std::to_string(tables.size()));
    auto table = ir::RopeTableOp::create(
        b, ir::nameLoc(b.getContext(), name), type, rope.getPositions(), rope.getFactors(),
        rope.getNDims(), rope.getBase(), rope.getFreqScale(), rope.getExtFactor(),
        rope.getAttnFactor(), rope.getBetaFast(), rope.getBetaSlow(), rope.getNCtxOrig());
    tables.push_back(table);
    return table;
  }

  static bool sameRotation(ir::RopeTableOp a, ir::RopeOp b) {
    return a.getNDims() == b.getNDims() && a.getBase() == b.getBase() &&
           a.getFreqScale() == b.getFreqScale() && a.getExtFactor() == b.getExtFactor() &&
           a.getAttnFactor() == b.getAttnFactor() && a.getBetaFast() == b.getBetaFast() &&
           a.getBetaSlow() == b.getBetaSlow() && a.getNCtxOrig() == b.getNCtxOrig();
  }

  void fuse(ir::RopeOp rope, const Sites &sites) {
    if (!sites.enabled(rope))
      return;
    auto norm = onlyFor<ir::RMSNormMulOp>(rope.getX());
    Value x = norm ? norm.getX() : rope.getX();
    Value w = norm ? norm.getW() : Value();
    OpBuilder b(rope);
    FloatAttr eps = norm ? norm.getEpsAttr() : b.getF32FloatAttr(0);
    ArrayAttr names = namesOf({norm, rope});
    SmallVector<Operation *> replaced;
    if (norm)
      replaced.push_back(norm);
    replaced.push_back(rope);
    Value table = tableFor(rope);
    auto store = rope.getResult().hasOneUse()
                     ? dyn_cast<ir::KvStoreOp>(*rope.getResult().user_begin())
                     : ir::KvStoreOp();
    if (!store) {
      auto fused = ir::NormRopeOp::create(
          b, ir::fusedNameLoc(ir::nameOf(rope), replaced), rope.getType(), x, w,
          rope.getPositions(), rope.getFactors(), table, eps, rope.getModeAttr(),
          rope.getNDimsAttr(), rope.getBaseAttr(), rope.getFreqScaleAttr(), rope.getExtFactorAttr(),
          rope.getAttnFactorAttr(), rope.getBetaFastAttr(), rope.getBetaSlowAttr(),
          rope.getNCtxOrigAttr(), names);
      replace(rope, fused->getResults(), {norm});
      return sites.fired(fused, norm ? "rms_norm_mul, rope -> norm_rope" : "rope -> norm_rope");
    }
    replaced.push_back(store);
    b.setInsertionPoint(store);
    auto fused = ir::NormRopeStoreOp::create(
        b, ir::fusedNameLoc(ir::nameOf(rope), replaced), x, w, rope.getPositions(),
        rope.getFactors(), table, store.getState(), store.getSlots(), eps, rope.getModeAttr(),
        rope.getNDimsAttr(), rope.getBaseAttr(), rope.getFreqScaleAttr(), rope.getExtFactorAttr(),
        rope.getAttnFactorAttr(), rope.getBetaFastAttr(), rope.getBetaSlowAttr(),
        rope.getNCtxOrigAttr(), names);
    replace(store, {}, {rope, norm});
    sites.fired(fused, "rope, kv_store -> norm_rope_store");
  }

  void runOnOperation() override {
    Sites sites("fuse-rope", disable, explain);
    tables.clear();
    for (ir::RopeOp rope : collect<ir::RopeOp>(getOperation()))
      fuse(rope, sites);
  }

  SmallVector<ir::RopeTableOp> tables;
};
} // namespace
} // namespace vetro
