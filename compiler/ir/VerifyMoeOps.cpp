// What the verifiers of layer norm and of the ops of mixtures of experts refuse.
#include "compiler/ir/Shapes.h"
#include "compiler/ir/Vetro.h"

using namespace mlir;
using namespace vetro::ir;

LogicalResult LayerNormOp::verify() {
  if (failed(verifyEps(*this, getEps())))
    return failure();
  return verifySameShape(*this, getX(), getResult());
}

LogicalResult TopKOp::verify() {
  RankedTensorType x = shapeOf(getX());
  int64_t k = getK(), groups = getGroups(), used = getGroupsUsed();
  if (x.getRank() != 2 || x.isDynamicDim(1))
    return emitOpError("x must be [T, E], found ") << x;
  int64_t n = x.getDimSize(1);
  if (k < 1 || k > n)
    return emitOpError("k must lie in 1..") << n << ", found " << k;
  if (groups < 1 || groups > 64 || n % groups != 0)
    return emitOpError("groups must be at most 64 and divide ") << n << ", found " << groups;
  if (used < 1 || used > groups || used * (n / groups) < k)
    return emitOpError("groups_used must lie in 1..")
           << groups << " and hold k = " << k << " numbers, found " << used;
  return verifyShape(*this, "result", getResult(), {x.getDimSize(0), k});
}

LogicalResult TakeAlongOp::verify() {
  RankedTensorType x = shapeOf(getX()), idx = shapeOf(getIdx()), y = shapeOf(getResult());
  if (x.getRank() != 2 || x.isDynamicDim(1) || x.getDimSize(0) != idx.getDimSize(0))
    return emitOpError("x must be [T, E] with as many rows as idx, found ") << x;
  if (!sameShape(y, idx))
    return emitOpError("result must have the shape of idx");
  return success();
}

LogicalResult MoeMatmulOp::verify() {
  RankedTensorType x = shapeOf(getX()), w = shapeOf(getW());
  RankedTensorType idx = shapeOf(getIdx());
  if (x.getRank() != 3 || w.getRank() != 3)
    return emitOpError("x and w must have rank 3");
  if (x.getDimSize(2) != w.getDimSize(2))
    return emitOpError("x has rows of ") << x.getDimSize(2) << ", w of " << w.getDimSize(2);
  int64_t chosen = idx.getDimSize(1);
  if (idx.isDynamicDim(1) || idx.getDimSize(0) != x.getDimSize(0) ||
      (x.getDimSize(1) != 1 && x.getDimSize(1) != chosen))
    return emitOpError("x must have 1 row a token or as many as idx, found ") << x;
  return verifyShape(*this, "result", getResult(), {x.getDimSize(0), chosen, w.getDimSize(1)});
}

LogicalResult ReduceOp::verify() {
  RankedTensorType x = shapeOf(getX()), y = shapeOf(getResult());
  int64_t axis = getAxis();
  if (getKind() != "sum" && getKind() != "mean" && getKind() != "max")
    return emitOpError("kind must be sum, mean or max, found '") << getKind() << "'";
  if (axis < 0 || axis >= x.getRank() || x.isDynamicDim(axis))
    return emitOpError("axis must be a static axis of x, found ") << axis;
  SmallVector<int64_t> kept(x.getShape()), dropped(x.getShape());
  kept[axis] = 1;
  dropped.erase(dropped.begin() + axis);
  auto matches = [&](ArrayRef<int64_t> shape) {
    return sameShape(y, RankedTensorType::get(shape, x.getElementType()));
  };
  if (!matches(kept) && !matches(dropped))
    return emitOpError("result must be x without axis ") << axis << ", or 1 long there";
  return success();
}

LogicalResult DivOp::verify() {
  return verifyBroadcast(*this, shapeOf(getA()), shapeOf(getB()), shapeOf(getResult()));
}

LogicalResult ClampOp::verify() {
  if (!(getLo() <= getHi()))
    return emitOpError("lo must not be above hi");
  return verifySameShape(*this, getX(), getResult());
}
