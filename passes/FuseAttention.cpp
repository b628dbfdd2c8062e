// The unrolled attention over the KV cache -> attention.
#include "passes/Passes.h"
#include "passes/Site.h"

using namespace mlir;

namespace vetro {
#define GEN_PASS_DEF_FUSEATTENTION
#include "passes/Passes.h.inc"

namespace {

/// What was matched, walking up from the reshape that ends an attention.
struct Match {
  ir::TransposeOp ctxT, vT, kT, qT;
  ir::BmmOp ctx, qk;
  ir::SoftmaxOp probs;
  ir::AttnMaskOp mask;
  ir::ScaleOp scale, capIn, capOut;
  ir::UnaryOp tanh;
  ir::KvLoadOp k, v;

  ir::ScaleOp scores() { return capOut ? capOut : scale; }
};

bool isPerm(ir::TransposeOp t, ArrayRef<int64_t> perm) { return t && t.getPerm() == perm; }

/// Null if the ops above `end` are an attention; else the first that is missing.
const char *match(ir::ReshapeOp end, Match &m) {
  m.ctxT = onlyFor<ir::TransposeOp>(end.getX());
  m.ctx = isPerm(m.ctxT, {1, 0, 2}) ? onlyFor<ir::BmmOp>(m.ctxT.getX()) : ir::BmmOp();
  if (!m.ctx)
    return "no product with values";
  m.probs = onlyFor<ir::SoftmaxOp>(m.ctx.getA());
  m.vT = onlyFor<ir::TransposeOp>(m.ctx.getB());
  m.v = isPerm(m.vT, {1, 2, 0}) ? onlyFor<ir::KvLoadOp>(m.vT.getX()) : ir::KvLoadOp();
  if (!m.probs || !m.v)
    return "values do not come from the cache";
  if (Value mask = m.probs.getMask())
    m.mask = mask.getDefiningOp<ir::AttnMaskOp>();
  m.scale = onlyFor<ir::ScaleOp>(m.probs.getX());
  if (!m.mask || !m.scale)
    return "no mask, or no scale before it";
  if (m.ctx.getMask() != m.probs.getMask())
    return "scores and values are not under one mask";
  if ((m.tanh = onlyFor<ir::UnaryOp>(m.scale.getX()))) {
    m.capOut = m.scale;
    m.capIn = onlyFor<ir::ScaleOp>(m.tanh.getX());
    m.scale = m.capIn ? onlyFor<ir::ScaleOp>(m.capIn.getX()) : ir::ScaleOp();
    if (m.tanh.getKind() != "tanh" || !m.scale)
      return "a function other than the soft-cap on the scores";
  }
  m.qk = onlyFor<ir::BmmOp>(m.scale.getX());
  m.qT = m.qk ? onlyFor<ir::TransposeOp>(m.qk.getA()) : ir::TransposeOp();
  m.kT = m.qk ? onlyFor<ir::TransposeOp>(m.qk.getB()) : ir::TransposeOp();
  m.k = isPerm(m.kT, {1, 0, 2}) ? onlyFor<ir::KvLoadOp>(m.kT.getX()) : ir::KvLoadOp();
  if (!isPerm(m.qT, {1, 0, 2}) || m.qk.getMask() || !m.k || m.k.getCells() != m.v.getCells())
    return "keys do not come from the cache";
  return nullptr;
}

struct FuseAttentionPass : impl::FuseAttentionBase<FuseAttentionPass> {
  using FuseAttentionBase::FuseAttentionBase;

  void fuse(ir::ReshapeOp end, const Sites &sites) {
    Match m;
    const char *missing = match(end, m);
    if (!m.ctx || !sites.enabled(end))
      return;
    if (missing)
      return sites.refused(end, missing);
    OpBuilder b(end);
    FloatAttr cap = m.capOut ? m.capOut.getSAttr() : b.getF32FloatAttr(0);
    ArrayAttr names = namesOf({m.k, m.v, m.scores(), m.probs, end});
    auto fused = ir::AttentionOp::create(
        b, ir::fusedNameLoc(ir::nameOf(end), {m.k, m.v, m.scores(), m.probs, end}), end.getType(),
        m.qT.getX(), m.k.getState(), m.v.getState(), m.mask.getPositions(), m.mask.getSequences(),
        m.k.getCells(), m.mask.getCellPositions(), m.mask.getCellSequences(), m.scale.getSAttr(),
        cap, m.mask.getWindowAttr(), names);
    replace(end, fused->getResults(),
            {m.ctxT, m.ctx, m.probs, m.mask, m.capOut, m.tanh, m.capIn, m.scale, m.qk, m.qT, m.kT,
             m.vT, m.k, m.v});
    sites.fired(fused, "bmm, scale, mask, softmax, bmm -> attention");
  }

  void runOnOperation() override {
    Sites sites("fuse-attention", disable, explain);
    for (ir::ReshapeOp end : collect<ir::ReshapeOp>(getOperation()))
      fuse(end, sites);
  }
};
} // namespace
} // namespace vetro
