// Fused ops: what they refuse, and how each says again what it replaced.
#include "compiler/ir/Shapes.h"
#include "compiler/ir/Vetro.h"

using namespace mlir;
using namespace vetro::ir;

namespace {

/// Builds the inside of a fused op: the i-th call of `loc` gives the i-th inner name.
class Expansion {
public:
  Expansion(OpBuilder &b, Operation *op, ArrayAttr names) : b(b), op(op), names(names) {}

  Location loc() {
    StringRef name = next < names.size() ? cast<StringAttr>(names[next]).getValue() : "";
    ++next;
    return nameLoc(b.getContext(), name);
  }
  Location unnamed() { return UnknownLoc::get(b.getContext()); }

  /// The value as the op's result wants it: as it is, or as int8 records.
  Value finish(Value v, unsigned result = 0) {
    if (!recordsOf(op->getResult(result)))
      return v;
    return QuantizeOp::create(b, unnamed(), op->getResult(result).getType(), v);
  }

  /// rms_norm(x) * w, the product carrying the next name.
  Value norm(Value x, Value w, const llvm::APFloat &eps) {
    Value n = RMSNormOp::create(b, unnamed(), x.getType(), x, eps);
    return MulOp::create(b, loc(), x.getType(), n, w);
  }

  /// x @ w.T under the next name.
  Value matmul(Value x, Value w) {
    auto type =
        RankedTensorType::get({shapeOf(x).getDimSize(0), shapeOf(w).getDimSize(0)}, b.getF32Type());
    return MatmulOp::create(b, loc(), type, x, w);
  }

private:
  OpBuilder &b;
  Operation *op;
  ArrayAttr names;
  unsigned next = 0;
};

} // namespace

/// One name for each value inside; a name may be empty.
static LogicalResult verifyNames(Operation *op, ArrayAttr names, size_t count) {
  if (names.size() != count)
    return op->emitOpError("names must be ") << count << ", found " << names.size();
  return success();
}

/// rms_norm(x) * w: eps in range, w as long as a row of x.
static LogicalResult verifyNorm(Operation *op, Value x, Value w, const llvm::APFloat &eps) {
  if (failed(verifyEps(op, eps)))
    return failure();
  return verifyShape(op, "w", w, {shapeOf(x).getShape().back()});
}

SmallVector<Value> RMSNormMulOp::expand(OpBuilder &b, ValueRange in) {
  Expansion e(b, *this, getNames());
  return {e.finish(e.norm(in[0], in[1], getEps()))};
}
LogicalResult RMSNormMulOp::verify() {
  if (failed(verifyNames(*this, getNames(), 1)) ||
      failed(verifyNorm(*this, getX(), getW(), getEps())))
    return failure();
  return verifySameShape(*this, getX(), getResult());
}

SmallVector<Value> RMSNormMulAddOp::expand(OpBuilder &b, ValueRange in) {
  Expansion e(b, *this, getNames());
  Value n = e.norm(in[0], in[1], getEps());
  return {AddOp::create(b, nameLoc(b.getContext(), nameOf(*this)), n.getType(), n, in[2])};
}
LogicalResult RMSNormMulAddOp::verify() {
  if (failed(verifyNames(*this, getNames(), 1)) ||
      failed(verifyNorm(*this, getX(), getW(), getEps())) ||
      failed(verifyShape(*this, "residual", getResidual(), shapeOf(getResult()).getShape())))
    return failure();
  return verifySameShape(*this, getX(), getResult());
}

SmallVector<Value> HeadNormOp::expand(OpBuilder &b, ValueRange in) {
  Expansion e(b, *this, getNames());
  auto type = RankedTensorType::get(shapeOf(getResult()).getShape(), b.getF32Type());
  Value rows = GatherRowsOp::create(b, e.unnamed(), type, in[0], in[1]);
  return {e.finish(e.norm(rows, in[2], getEps()))};
}
LogicalResult HeadNormOp::verify() {
  RankedTensorType x = shapeOf(getX());
  if (x.getRank() != 2 || x.isDynamicDim(1))
    return emitOpError("x must be [T, D], found ") << x;
  if (failed(verifyNames(*this, getNames(), 1)) ||
      failed(verifyNorm(*this, getX(), getW(), getEps())))
    return failure();
  return verifyShape(*this, "result", getResult(),
                     {shapeOf(getRows()).getDimSize(0), x.getDimSize(1)});
}

SmallVector<Value> QkvMatmulOp::expand(OpBuilder &b, ValueRange in) {
  Expansion e(b, *this, getNames());
  Value q = e.matmul(in[0], in[1]);
  Value k = e.matmul(in[0], in[2]);
  return {q, k, e.matmul(in[0], in[3])};
}
/// Each result prints under its own name.
void QkvMatmulOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  for (auto [result, name] : llvm::zip(getResults(), getNames()))
    if (StringRef text = cast<StringAttr>(name).getValue(); !text.empty())
      setName(result, text);
}
LogicalResult QkvMatmulOp::verify() {
  if (failed(verifyNames(*this, getNames(), 3)) ||
      failed(verifyMatmul(*this, getX(), getWq(), getQ())) ||
      failed(verifyMatmul(*this, getX(), getWk(), getK())))
    return failure();
  return verifyMatmul(*this, getX(), getWv(), getV());
}

SmallVector<Value> MatmulAddOp::expand(OpBuilder &b, ValueRange in) {
  Expansion e(b, *this, getNames());
  Value y = e.matmul(in[0], in[1]);
  return {AddOp::create(b, nameLoc(b.getContext(), nameOf(*this)), y.getType(), y, in[2])};
}
LogicalResult MatmulAddOp::verify() {
  if (failed(verifyNames(*this, getNames(), 1)) ||
      failed(verifyMatmul(*this, getX(), getW(), getResult())))
    return failure();
  return verifyShape(*this, "residual", getResidual(), shapeOf(getResult()).getShape());
}

SmallVector<Value> GluOp::expand(OpBuilder &b, ValueRange in) {
  Expansion e(b, *this, getNames());
  Value gate = e.matmul(in[0], in[1]);
  Value up = e.matmul(in[0], in[2]);
  Value act = UnaryOp::create(b, e.loc(), gate.getType(), gate, getKind());
  return {e.finish(MulOp::create(b, e.loc(), gate.getType(), act, up))};
}
LogicalResult GluOp::verify() {
  if (failed(verifyNames(*this, getNames(), 4)) || failed(verifyUnaryKind(*this, getKind())) ||
      failed(verifyMatmul(*this, getX(), getUp(), getResult())))
    return failure();
  return verifyMatmul(*this, getX(), getGate(), getResult());
}

/// rope(norm(x) * w) or rope(x), from the attributes that both rope fusions share.
template <typename OpT>
static Value expandNormRope(OpT op, Expansion &e, OpBuilder &b, ValueRange in) {
  unsigned i = 0;
  Value x = in[i++];
  Value w = op.getW() ? in[i++] : Value();
  Value positions = in[i++];
  Value factors = op.getFactors() ? in[i++] : Value();
  if (w)
    x = e.norm(x, w, op.getEps());
  else
    e.loc(); // the norm's name, unused
  return RopeOp::create(b, e.loc(), x.getType(), x, positions, factors, op.getMode(), op.getNDims(),
                        op.getBase(), op.getFreqScale(), op.getExtFactor(), op.getAttnFactor(),
                        op.getBetaFast(), op.getBetaSlow(), op.getNCtxOrig());
}
template <typename OpT> static LogicalResult verifyNormRope(OpT op) {
  RankedTensorType x = shapeOf(op.getX());
  int64_t nDims = op.getNDims();
  if (failed(verifyNames(op, op.getNames(), 2)) ||
      failed(verifyRotated(op, op.getX(), op.getPositions())) ||
      failed(verifyRopeMode(op, op.getMode())) ||
      (op.getW() && failed(verifyNorm(op, op.getX(), op.getW(), op.getEps()))) ||
      failed(
          verifyRope(op, nDims, x.getDimSize(2), op.getBase().convertToDouble(), op.getFactors())))
    return failure();
  return verifyShape(op, "table", op.getTable(), {x.getDimSize(0), nDims / 2, 2});
}

SmallVector<Value> NormRopeOp::expand(OpBuilder &b, ValueRange in) {
  Expansion e(b, *this, getNames());
  return {expandNormRope(*this, e, b, in)};
}
LogicalResult NormRopeOp::verify() {
  if (failed(verifyNormRope(*this)))
    return failure();
  return verifySameShape(*this, getX(), getResult());
}

SmallVector<Value> NormRopeStoreOp::expand(OpBuilder &b, ValueRange in) {
  Expansion e(b, *this, getNames());
  Value k = expandNormRope(*this, e, b, in);
  KvStoreOp::create(b, e.unnamed(), in[in.size() - 2], k, in[in.size() - 1]);
  return {};
}
LogicalResult NormRopeStoreOp::verify() {
  if (failed(verifyNormRope(*this)))
    return failure();
  return verifyHeads(*this, cast<StateType>(getState().getType()), getX(), getSlots());
}

SmallVector<Value> AttentionOp::expand(OpBuilder &b, ValueRange in) {
  Expansion e(b, *this, getNames());
  Value q = in[0], positions = in[3], sequences = in[4], cells = in[5];
  auto state = cast<StateType>(getKState().getType());
  auto vState = cast<StateType>(getVState().getType());
  int64_t heads = shapeOf(q).getDimSize(1), dyn = ShapedType::kDynamic;
  int64_t tokens = shapeOf(q).getDimSize(0);
  auto tensor = [&](ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, b.getF32Type());
  };
  auto permute = [&](Value v, ArrayRef<int64_t> perm) -> Value {
    SmallVector<int64_t> shape;
    for (int64_t axis : perm)
      shape.push_back(shapeOf(v).getDimSize(axis));
    return TransposeOp::create(b, e.unnamed(), tensor(shape), v, perm);
  };
  Value k = KvLoadOp::create(b, e.loc(), tensor({dyn, state.getHeads(), state.getHeadDim()}), in[1],
                             cells);
  Value v = KvLoadOp::create(b, e.loc(), tensor({dyn, vState.getHeads(), vState.getHeadDim()}),
                             in[2], cells);
  auto scores = tensor({heads, tokens, dyn});
  Value s = BmmOp::create(b, e.unnamed(), scores, permute(q, {1, 0, 2}), permute(k, {1, 0, 2}),
                          /*mask=*/Value());
  float cap = getSoftcap().convertToFloat();
  Location scoresLoc = e.loc();
  s = ScaleOp::create(b, cap == 0 ? scoresLoc : e.unnamed(), scores, s, getScale());
  if (cap != 0) {
    s = ScaleOp::create(b, e.unnamed(), scores, s, llvm::APFloat(1.0f / cap));
    s = UnaryOp::create(b, e.unnamed(), scores, s, "tanh");
    s = ScaleOp::create(b, scoresLoc, scores, s, getSoftcap());
  }
  Value mask = AttnMaskOp::create(b, e.unnamed(), tensor({tokens, dyn}), positions, sequences,
                                  in[6], in[7], getWindow());
  Value probs = SoftmaxOp::create(b, e.loc(), scores, s, mask);
  Value ctx = BmmOp::create(b, e.unnamed(), tensor({heads, tokens, vState.getHeadDim()}), probs,
                            permute(v, {1, 2, 0}), mask);
  Value rows = ReshapeOp::create(b, e.loc(), tensor({tokens, heads * vState.getHeadDim()}),
                                 permute(ctx, {1, 0, 2}));
  return {e.finish(rows)};
}
/// The softmax is made page by page: exp (4), a sum in 16 lanes (16 + 5), the merge of a page's
/// sums into those before (exp, product, sum: 6), the last one's factor (5) and the division (1).
/// The soft-cap is a division; its tanh (within 3 ulp) is the kernels' own.
double AttentionOp::countRoundings(Operation *inner, int64_t length) {
  int64_t pages = length / pagePositions + 1;
  if (isa<SoftmaxOp>(inner))
    return 6.0 * pages + 31;
  return isa<ScaleOp>(inner) ? 2 : kernelRoundings(inner, length);
}
LogicalResult AttentionOp::verify() {
  auto k = cast<StateType>(getKState().getType()), v = cast<StateType>(getVState().getType());
  RankedTensorType q = shapeOf(getQ());
  if (q.getRank() != 3 || q.isDynamicDim(1) || q.getDimSize(1) % k.getHeads() != 0 ||
      q.getDimSize(2) != k.getHeadDim())
    return emitOpError("q must be [T, multiple of ")
           << k.getHeads() << ", " << k.getHeadDim() << "], found " << q;
  if (v.getHeads() != k.getHeads())
    return emitOpError("keys have ") << k.getHeads() << " heads, values " << v.getHeads();
  if (!(getSoftcap().convertToFloat() >= 0) || static_cast<int64_t>(getWindow()) < 0)
    return emitOpError("softcap and window must not be negative");
  int64_t tokens = q.getDimSize(0), cells = shapeOf(getCells()).getDimSize(0);
  if (failed(verifyNames(*this, getNames(), 5)) ||
      failed(verifyShape(*this, "positions", getPositions(), {tokens})) ||
      failed(verifyShape(*this, "sequences", getSequences(), {tokens})) ||
      failed(verifyShape(*this, "cell_positions", getCellPositions(), {cells})) ||
      failed(verifyShape(*this, "cell_sequences", getCellSequences(), {cells})))
    return failure();
  return verifyShape(*this, "result", getResult(), {tokens, q.getDimSize(1) * v.getHeadDim()});
}
