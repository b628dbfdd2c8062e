// Steps that only move numbers: transpose, slice, broadcast, concat. One unit is one row of the
// result (of its leading axes, for concat).
#include "compiler/lowering/Emitters.h"

using namespace mlir;

namespace vetro {

Value rowOffset(StepBuilder &s, ArrayRef<Value> dims, ArrayRef<Value> strides, Value row) {
  Value offset = s.i64(0);
  for (size_t axis = dims.size() - 1; axis-- > 0;) {
    // The first axis needs no remainder; a stride of 0 no index.
    Value index = axis == 0 ? row : s.rem(row, dims[axis]);
    if (getConstantIntValue(strides[axis]) != 0)
      offset = s.add(offset, s.mul(index, strides[axis]));
    if (axis > 0)
      row = s.div(row, dims[axis]);
  }
  return offset;
}

/// Floats from one index of each axis to the next, of a value with these dimensions.
static SmallVector<Value> rowMajor(StepBuilder &s, ArrayRef<Value> dims) {
  SmallVector<Value> strides(dims.size(), s.i64(1));
  for (size_t axis = dims.size() - 1; axis-- > 0;)
    strides[axis] = s.mul(strides[axis + 1], dims[axis + 1]);
  return strides;
}

static void copyRow(StepBuilder &s, Value from, Value to, Value n) {
  s.vectors(n, 16, [&](Value i, int lanes) { s.store(s.load(from, i, lanes), to, i); });
}

/// y[i, j, ...] = x[first + i * strides[0] + j * strides[1] + ...]
static void emitCopy(StepBuilder &s, Operation *op, ArrayRef<Value> strides, Value first) {
  SmallVector<Value> dims = dimensions(s, op->getResult(0));
  Value n = dims.back(), x = s.at(s.operand(0), first), y = s.operand(1);
  std::optional<int64_t> last = getConstantIntValue(strides.back());
  s.loop(s.begin(), s.end(), 1, [&](Value row) {
    Value from = s.at(x, rowOffset(s, dims, strides, row)), to = s.at(y, s.mul(row, n));
    if (last == 1)
      return copyRow(s, from, to, n);
    s.loop(s.i64(0), n, 1,
           [&](Value i) { s.store(s.loadScalar(from, s.mul(i, strides.back())), to, i); });
  });
}

static void emitTranspose(StepBuilder &s, Operation *op) {
  auto transpose = cast<ir::TransposeOp>(op);
  SmallVector<Value> ofX = rowMajor(s, dimensions(s, transpose.getX())), strides;
  for (int64_t axis : transpose.getPerm())
    strides.push_back(ofX[axis]);
  emitCopy(s, op, strides, s.i64(0));
}

static void emitSlice(StepBuilder &s, Operation *op) {
  auto slice = cast<ir::SliceOp>(op);
  SmallVector<Value> strides = rowMajor(s, dimensions(s, slice.getX()));
  emitCopy(s, op, strides, s.mul(s.i64(slice.getBegin()), strides[slice.getAxis()]));
}

static void emitBroadcast(StepBuilder &s, Operation *op) {
  unsigned rank = ir::shapeOf(op->getResult(0)).getRank();
  emitCopy(s, op, broadcastStrides(s, op->getOperand(0), rank), s.i64(0));
}

SmallVector<Value> broadcastStrides(StepBuilder &s, Value x, unsigned rank) {
  SmallVector<Value> ofX = rowMajor(s, dimensions(s, x)), strides(rank, s.i64(0));
  for (auto [i, size] : llvm::enumerate(ir::shapeOf(x).getShape()))
    if (size != 1)
      strides[rank - ofX.size() + i] = ofX[i];
  return strides;
}

/// For each index of the axes before the joined one: a block of a, then a block of b.
static void emitConcat(StepBuilder &s, Operation *op) {
  int64_t axis = cast<ir::ConcatOp>(op).getAxis();
  auto blockOf = [&](Value v) {
    SmallVector<Value> dims = dimensions(s, v);
    return s.mul(rowMajor(s, dims)[axis], dims[axis]);
  };
  Value sizeA = blockOf(op->getOperand(0)), sizeB = blockOf(op->getOperand(1));
  Value a = s.operand(0), b = s.operand(1), y = s.operand(2);
  s.loop(s.begin(), s.end(), 1, [&](Value unit) {
    Value to = s.at(y, s.mul(unit, s.add(sizeA, sizeB)));
    copyRow(s, s.at(a, s.mul(unit, sizeA)), to, sizeA);
    copyRow(s, s.at(b, s.mul(unit, sizeB)), s.at(to, sizeA), sizeB);
  });
}
static ir::Extent concatUnits(Operation *op) {
  int64_t axis = cast<ir::ConcatOp>(op).getAxis();
  ir::Extent e;
  SmallVector<ir::Axis, 2> axes = ir::dynamicAxes(op->getResult(0));
  unsigned dynamic = 0;
  for (int64_t size : ir::shapeOf(op->getResult(0)).getShape().take_front(axis))
    if (ShapedType::isDynamic(size))
      ir::multiply(e, axes[dynamic++]);
    else
      e.scale *= size;
  return e;
}

static ir::Extent rows(Operation *op) { return rowCount(op->getResult(0)); }

EmitterTable shapeEmitters() {
  static const std::pair<StringRef, Emitter> table[] = {
      {"vetro.transpose", {emitTranspose, rows}},
      {"vetro.slice", {emitSlice, rows}},
      {"vetro.broadcast", {emitBroadcast, rows}},
      {"vetro.concat", {emitConcat, concatUnits}},
  };
  return table;
}

} // namespace vetro
