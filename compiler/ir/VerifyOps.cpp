// What the verifiers of level 1 refuse: shapes that do not fit, attributes out of range.
#include "compiler/ir/Shapes.h"
#include "compiler/ir/Vetro.h"

using namespace mlir;
using namespace vetro::ir;

static std::string dimText(int64_t d) { return ShapedType::isDynamic(d) ? "?" : std::to_string(d); }
/// "[?, 4]"
static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t d : shape)
    text += (text.empty() ? "" : ", ") + dimText(d);
  return "[" + text + "]";
}
LogicalResult vetro::ir::verifyShape(Operation *op, StringRef what, Value v,
                                     ArrayRef<int64_t> shape) {
  if (shapeOf(v).getShape() != shape)
    return op->emitOpError() << what << " must be " << shapeText(shape) << ", found " << shapeOf(v);
  return success();
}

LogicalResult GatherRowsOp::verify() {
  RankedTensorType table = shapeOf(getTable());
  if (table.getRank() != 2 || table.isDynamicDim(1))
    return emitOpError("table must be a matrix with rows of known length, found ") << table;
  return verifyShape(*this, "result", getResult(),
                     {shapeOf(getIds()).getDimSize(0), table.getDimSize(1)});
}

LogicalResult vetro::ir::verifyMatmul(Operation *op, Value xv, Value wv, Value yv) {
  RankedTensorType x = shapeOf(xv), w = shapeOf(wv), y = shapeOf(yv);
  if (x.getRank() != 2 || w.getRank() != 2 || y.getRank() != 2)
    return op->emitOpError("x, w and result must be matrices");
  if (!w.hasStaticShape())
    return op->emitOpError("w must have a static shape, found ") << w;
  if (x.getDimSize(1) != w.getDimSize(1))
    return op->emitOpError("x has rows of ")
           << dimText(x.getDimSize(1)) << ", w of " << w.getDimSize(1);
  return verifyShape(op, "result", yv, {x.getDimSize(0), w.getDimSize(0)});
}

LogicalResult MatmulOp::verify() { return verifyMatmul(*this, getX(), getW(), getResult()); }

LogicalResult BmmOp::verify() {
  RankedTensorType a = shapeOf(getA()), b = shapeOf(getB()), y = shapeOf(getResult());
  if (a.getRank() != 3 || b.getRank() != 3 || y.getRank() != 3)
    return emitOpError("a, b and result must have rank 3");
  if (a.isDynamicDim(0) || b.isDynamicDim(0) || a.getDimSize(0) % b.getDimSize(0) != 0)
    return emitOpError("groups of a (")
           << a.getDimSize(0) << ") must be a multiple of those of b (" << b.getDimSize(0) << ")";
  if (a.getDimSize(2) != b.getDimSize(2))
    return emitOpError("a has rows of ") << a.getDimSize(2) << ", b of " << b.getDimSize(2);
  if (getMask() && failed(verifyShape(*this, "mask", getMask(), a.getShape().drop_front())))
    return failure();
  return verifyShape(*this, "result", getResult(),
                     {a.getDimSize(0), a.getDimSize(1), b.getDimSize(1)});
}

LogicalResult vetro::ir::verifyBroadcast(Operation *op, RankedTensorType a, RankedTensorType b,
                                         RankedTensorType y) {
  if (!sameShape(a, y))
    return op->emitOpError("result must have the shape of a");
  if (b.getRank() > a.getRank())
    return op->emitOpError("b has more axes than a");
  for (int64_t i = 1; i <= b.getRank(); ++i) {
    int64_t da = a.getDimSize(a.getRank() - i), db = b.getDimSize(b.getRank() - i);
    if (db != 1 && da != db)
      return op->emitOpError("axis of b is ") << dimText(db) << ", of a " << dimText(da);
  }
  return success();
}
LogicalResult AddOp::verify() {
  return verifyBroadcast(*this, shapeOf(getA()), shapeOf(getB()), shapeOf(getResult()));
}
LogicalResult MulOp::verify() {
  return verifyBroadcast(*this, shapeOf(getA()), shapeOf(getB()), shapeOf(getResult()));
}

LogicalResult vetro::ir::verifySameShape(Operation *op, Value x, Value y) {
  if (!sameShape(shapeOf(x), shapeOf(y)))
    return op->emitOpError("result must have the shape of x");
  return success();
}
LogicalResult ScaleOp::verify() { return verifySameShape(*this, getX(), getResult()); }
LogicalResult SoftmaxOp::verify() {
  RankedTensorType x = shapeOf(getX());
  if (getMask() && x.getRank() < 2)
    return emitOpError("a mask needs x of two axes, found ") << x;
  if (getMask() && failed(verifyShape(*this, "mask", getMask(), x.getShape().take_back(2))))
    return failure();
  return verifySameShape(*this, getX(), getResult());
}

LogicalResult vetro::ir::verifyEps(Operation *op, const llvm::APFloat &eps) {
  double value = eps.convertToDouble();
  if (!(value > 0 && value <= 1e-2))
    return op->emitOpError("eps must lie in (0, 1e-2], found ") << std::to_string(value);
  return success();
}
LogicalResult RMSNormOp::verify() {
  if (failed(verifyEps(*this, getEps())))
    return failure();
  return verifySameShape(*this, getX(), getResult());
}

LogicalResult vetro::ir::verifyRope(Operation *op, int64_t nDims, int64_t headDim, double base,
                                    Value factors) {
  if (nDims <= 0 || nDims % 2 != 0 || nDims > headDim)
    return op->emitOpError("n_dims must be even and at most the head size ")
           << headDim << ", found " << nDims;
  if (!std::isfinite(base) || base <= 0)
    return op->emitOpError("base must be finite and positive");
  if (factors)
    return verifyShape(op, "factors", factors, {nDims / 2});
  return success();
}
LogicalResult vetro::ir::verifyRopeMode(Operation *op, StringRef mode) {
  if (mode != "norm" && mode != "neox")
    return op->emitOpError("mode must be norm or neox, found '") << mode << "'";
  return success();
}
LogicalResult vetro::ir::verifyRotated(Operation *op, Value x, Value positions) {
  RankedTensorType type = shapeOf(x);
  if (type.getRank() != 3 || type.isDynamicDim(1) || type.isDynamicDim(2))
    return op->emitOpError("x must be [T, H, d], found ") << type;
  return verifyShape(op, "positions", positions, {type.getDimSize(0)});
}
LogicalResult RopeOp::verify() {
  if (failed(verifyRotated(*this, getX(), getPositions())) ||
      failed(verifyRopeMode(*this, getMode())) ||
      failed(verifySameShape(*this, getX(), getResult())))
    return failure();
  return verifyRope(*this, getNDims(), shapeOf(getX()).getDimSize(2), getBase().convertToDouble(),
                    getFactors());
}
LogicalResult RopeTableOp::verify() {
  int64_t nDims = getNDims();
  if (failed(verifyRope(*this, nDims, nDims, getBase().convertToDouble(), getFactors())))
    return failure();
  return verifyShape(*this, "result", getResult(),
                     {shapeOf(getPositions()).getDimSize(0), nDims / 2, 2});
}

static constexpr llvm::StringLiteral unaryKinds[] = {"silu", "gelu",     "gelu_erf", "gelu_quick",
                                                     "relu", "sqr",      "sqrt",     "sigmoid",
                                                     "tanh", "softplus", "exp",      "neg"};
LogicalResult vetro::ir::verifyUnaryKind(Operation *op, StringRef kind) {
  if (!llvm::is_contained(unaryKinds, kind))
    return op->emitOpError("unknown function '") << kind << "'";
  return success();
}
LogicalResult UnaryOp::verify() {
  if (failed(verifyUnaryKind(*this, getKind())))
    return failure();
  return verifySameShape(*this, getX(), getResult());
}

LogicalResult AttnMaskOp::verify() {
  if ((int64_t)getWindow() < 0)
    return emitOpError("window must not be negative");
  int64_t tokens = shapeOf(getPositions()).getDimSize(0);
  int64_t cells = shapeOf(getCellPositions()).getDimSize(0);
  if (failed(verifyShape(*this, "sequences", getSequences(), {tokens})) ||
      failed(verifyShape(*this, "cell_sequences", getCellSequences(), {cells})))
    return failure();
  return verifyShape(*this, "result", getResult(), {tokens, cells});
}

LogicalResult vetro::ir::verifyHeads(Operation *op, StateType state, Value x, Value ids) {
  return verifyShape(op, "values", x,
                     {shapeOf(ids).getDimSize(0), state.getHeads(), state.getHeadDim()});
}
LogicalResult KvStoreOp::verify() {
  return verifyHeads(*this, cast<StateType>(getState().getType()), getX(), getSlots());
}
LogicalResult KvLoadOp::verify() {
  return verifyHeads(*this, cast<StateType>(getState().getType()), getResult(), getCells());
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType x = shapeOf(getX()), y = shapeOf(getResult());
  if (x.getNumDynamicDims() > 1 || x.getNumDynamicDims() != y.getNumDynamicDims())
    return emitOpError("at most one dynamic axis, on both sides");
  if (staticProduct(x) != staticProduct(y))
    return emitOpError("static dimensions multiply to ")
           << staticProduct(x) << " and " << staticProduct(y);
  return success();
}

LogicalResult TransposeOp::verify() {
  RankedTensorType x = shapeOf(getX()), y = shapeOf(getResult());
  SmallVector<int64_t> sorted(getPerm());
  llvm::sort(sorted);
  for (auto [i, axis] : llvm::enumerate(sorted))
    if ((int64_t)i != axis)
      return emitOpError("perm is no permutation");
  if ((int64_t)sorted.size() != x.getRank() || x.getRank() != y.getRank())
    return emitOpError("perm, x and result must have the same rank");
  for (auto [i, axis] : llvm::enumerate(getPerm()))
    if (y.getDimSize(i) != x.getDimSize(axis))
      return emitOpError("result axis ") << i << " must be " << x.getDimSize(axis);
  return success();
}

LogicalResult SliceOp::verify() {
  RankedTensorType x = shapeOf(getX());
  int64_t axis = getAxis(), begin = getBegin(), len = getLen();
  if (axis < 0 || axis >= x.getRank() || x.isDynamicDim(axis))
    return emitOpError("axis must be a static axis of x, found ") << axis;
  int64_t size = x.getDimSize(axis); // the sum of begin and len might overflow
  if (begin < 0 || begin > size || len <= 0 || len > size - begin)
    return emitOpError() << len << " places from " << begin << " are outside an axis of " << size;
  SmallVector<int64_t> shape(x.getShape());
  shape[axis] = len;
  return verifyShape(*this, "result", getResult(), shape);
}

LogicalResult BroadcastOp::verify() {
  return verifyBroadcast(*this, shapeOf(getResult()), shapeOf(getX()), shapeOf(getResult()));
}

LogicalResult ConcatOp::verify() {
  RankedTensorType a = shapeOf(getA()), b = shapeOf(getB()), y = shapeOf(getResult());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= a.getRank() || a.getRank() != b.getRank() || a.getRank() != y.getRank())
    return emitOpError("ranks differ, or axis outside a");
  if (a.isDynamicDim(axis) || b.isDynamicDim(axis))
    return emitOpError("axis must be static in a and b, found ") << axis;
  for (int64_t i = 0; i < a.getRank(); ++i)
    if (i != axis && (a.getDimSize(i) != b.getDimSize(i) || a.getDimSize(i) != y.getDimSize(i)))
      return emitOpError("axis ") << i << " differs";
  if (y.getDimSize(axis) != a.getDimSize(axis) + b.getDimSize(axis))
    return emitOpError("result axis must be the sum of both");
  return success();
}

LogicalResult QuantizeOp::verify() {
  RankedTensorType x = shapeOf(getX());
  if (x.getRank() < 2 || ShapedType::isDynamic(x.getShape().back()) ||
      x.getShape().back() % blockLength("a8") != 0)
    return emitOpError("x must be [..., K] with K a multiple of 32, found ") << x;
  if (!recordsOf(getResult()))
    return emitOpError("result must have the encoding #vetro.q<a8> or #vetro.q<a8x2>");
  return verifySameShape(*this, getX(), getResult());
}
