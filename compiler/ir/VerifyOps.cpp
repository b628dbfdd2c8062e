// What the verifiers of level 1 refuse: shapes that do not fit, attributes out of range.
#include "compiler/ir/Shapes.h"
#include "compiler/ir/Vetro.h"

using namespace mlir;
using namespace vetro::ir;

LogicalResult GatherRowsOp::verify() {
  RankedTensorType table = shapeOf(getTable()), y = shapeOf(getResult());
  if (table.getRank() != 2)
    return emitOpError("table must be a matrix, found ") << table;
  if (y.getRank() != 2 || !sameDim(y.getDimSize(1), table.getDimSize(1)))
    return emitOpError("result must be [n, ") << table.getDimSize(1) << "], found " << y;
  return success();
}

LogicalResult vetro::ir::verifyMatmul(Operation *op, Value xv, Value wv, Value yv) {
  RankedTensorType x = shapeOf(xv), w = shapeOf(wv), y = shapeOf(yv);
  if (x.getRank() != 2 || w.getRank() != 2 || y.getRank() != 2)
    return op->emitOpError("x, w and result must be matrices");
  if (!sameDim(x.getDimSize(1), w.getDimSize(1)))
    return op->emitOpError("x has rows of ") << x.getDimSize(1) << ", w of " << w.getDimSize(1);
  if (!sameDim(y.getDimSize(1), w.getDimSize(0)) || !sameDim(y.getDimSize(0), x.getDimSize(0)))
    return op->emitOpError("result must be [T, ") << w.getDimSize(0) << "], found " << y;
  return success();
}

LogicalResult MatmulOp::verify() { return verifyMatmul(*this, getX(), getW(), getResult()); }

LogicalResult BmmOp::verify() {
  RankedTensorType a = shapeOf(getA()), b = shapeOf(getB()), y = shapeOf(getResult());
  if (a.getRank() != 3 || b.getRank() != 3 || y.getRank() != 3)
    return emitOpError("a, b and result must have rank 3");
  if (b.getDimSize(0) <= 0 || a.getDimSize(0) % b.getDimSize(0) != 0)
    return emitOpError("groups of a (")
           << a.getDimSize(0) << ") must be a multiple of those of b (" << b.getDimSize(0) << ")";
  if (!sameDim(a.getDimSize(2), b.getDimSize(2)))
    return emitOpError("a has rows of ") << a.getDimSize(2) << ", b of " << b.getDimSize(2);
  if (!sameDim(y.getDimSize(0), a.getDimSize(0)) || !sameDim(y.getDimSize(1), a.getDimSize(1)) ||
      !sameDim(y.getDimSize(2), b.getDimSize(1)))
    return emitOpError("result must be [G, M, N], found ") << y;
  return success();
}

LogicalResult vetro::ir::verifyBroadcast(Operation *op, RankedTensorType a, RankedTensorType b,
                                         RankedTensorType y) {
  if (!sameShape(a, y))
    return op->emitOpError("result must have the shape of a");
  if (b.getRank() > a.getRank())
    return op->emitOpError("b has more axes than a");
  for (int64_t i = 1; i <= b.getRank(); ++i) {
    int64_t da = a.getDimSize(a.getRank() - i), db = b.getDimSize(b.getRank() - i);
    if (db != 1 && !sameDim(da, db))
      return op->emitOpError("axis of b is ") << db << ", of a " << da;
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
LogicalResult SoftmaxOp::verify() { return verifySameShape(*this, getX(), getResult()); }

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

LogicalResult vetro::ir::verifyRope(Operation *op, int64_t nDims, int64_t headDim, double base) {
  if (nDims <= 0 || nDims % 2 != 0 || nDims > headDim)
    return op->emitOpError("n_dims must be even and at most the head size ")
           << headDim << ", found " << nDims;
  if (!std::isfinite(base) || base <= 0)
    return op->emitOpError("base must be finite and positive");
  return success();
}
LogicalResult RopeOp::verify() {
  RankedTensorType x = shapeOf(getX());
  if (x.getRank() != 3)
    return emitOpError("x must be [T, H, d], found ") << x;
  if (getMode() != "norm" && getMode() != "neox")
    return emitOpError("mode must be norm or neox, found '") << getMode() << "'";
  if (getFactors() && shapeOf(getFactors()).getNumElements() != (int64_t)getNDims() / 2)
    return emitOpError("factors must hold n_dims / 2 numbers");
  if (failed(verifySameShape(*this, getX(), getResult())))
    return failure();
  return verifyRope(*this, getNDims(), x.getDimSize(2), getBase().convertToDouble());
}
LogicalResult RopeTableOp::verify() {
  RankedTensorType y = shapeOf(getResult());
  if (y.getRank() != 3 || y.getDimSize(1) != (int64_t)getNDims() / 2 || y.getDimSize(2) != 2)
    return emitOpError("result must be [T, n_dims / 2, 2], found ") << y;
  return verifyRope(*this, getNDims(), getNDims(), getBase().convertToDouble());
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
  if (shapeOf(getResult()).getRank() != 2)
    return emitOpError("result must be [T, C]");
  return success();
}

static LogicalResult verifyHeads(Operation *op, StateType state, RankedTensorType x) {
  if (x.getRank() != 3 || x.getDimSize(1) != state.getHeads() ||
      x.getDimSize(2) != state.getHeadDim())
    return op->emitOpError("values must be [n, ")
           << state.getHeads() << ", " << state.getHeadDim() << "], found " << x;
  return success();
}
LogicalResult KvStoreOp::verify() {
  return verifyHeads(*this, cast<StateType>(getState().getType()), shapeOf(getX()));
}
LogicalResult KvLoadOp::verify() {
  return verifyHeads(*this, cast<StateType>(getState().getType()), shapeOf(getResult()));
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
    if (!sameDim(y.getDimSize(i), x.getDimSize(axis)))
      return emitOpError("result axis ") << i << " must be " << x.getDimSize(axis);
  return success();
}

LogicalResult SliceOp::verify() {
  RankedTensorType x = shapeOf(getX()), y = shapeOf(getResult());
  int64_t axis = getAxis(), begin = getBegin(), len = getLen();
  if (axis < 0 || axis >= x.getRank() || y.getRank() != x.getRank())
    return emitOpError("axis outside x");
  if (begin < 0 || len <= 0 || x.isDynamicDim(axis) || begin + len > x.getDimSize(axis))
    return emitOpError("range [") << begin << ", " << begin + len << ") outside axis of "
                                  << x.getDimSize(axis);
  if (y.getDimSize(axis) != len)
    return emitOpError("result axis must be ") << len;
  return success();
}

LogicalResult BroadcastOp::verify() {
  return verifyBroadcast(*this, shapeOf(getResult()), shapeOf(getX()), shapeOf(getResult()));
}

LogicalResult ConcatOp::verify() {
  RankedTensorType a = shapeOf(getA()), b = shapeOf(getB()), y = shapeOf(getResult());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= a.getRank() || a.getRank() != b.getRank() || a.getRank() != y.getRank())
    return emitOpError("ranks differ, or axis outside a");
  for (int64_t i = 0; i < a.getRank(); ++i)
    if (i != axis &&
        (!sameDim(a.getDimSize(i), b.getDimSize(i)) || !sameDim(a.getDimSize(i), y.getDimSize(i))))
      return emitOpError("axis ") << i << " differs";
  if (y.getDimSize(axis) != a.getDimSize(axis) + b.getDimSize(axis))
    return emitOpError("result axis must be the sum of both");
  return success();
}

LogicalResult QuantizeOp::verify() {
  RankedTensorType x = shapeOf(getX());
  if (x.getRank() < 2 || x.getShape().back() % 32 != 0)
    return emitOpError("x must be [..., K] with K a multiple of 32, found ") << x;
  if (!recordsOf(getResult()))
    return emitOpError("result must have the encoding #vetro.q<a8> or #vetro.q<a8x2>");
  return verifySameShape(*this, getX(), getResult());
}
