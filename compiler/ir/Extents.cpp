// Extents of dynamic axes.
#include "compiler/ir/Extents.h"
#include "compiler/ir/Shapes.h"
#include "runtime/abi/Kernel.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace vetro::ir {

static Axis axisOfInput(BlockArgument arg) {
  auto func = dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp());
  if (!func || !arg.getOwner()->isEntryBlock())
    return Axis::Tokens; // no graph of ours has such blocks, but text may
  auto name = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "vetro.input");
  if (name && name.getValue() == "outputs")
    return Axis::Outputs;
  return name && name.getValue().starts_with("cell") ? Axis::Cells : Axis::Tokens;
}

/// Axes of a permuted value: those of x, in the order in which perm names dynamic axes.
static SmallVector<Axis, 2> permuted(TransposeOp op) {
  SmallVector<Axis, 2> of = dynamicAxes(op.getX()), result;
  RankedTensorType x = shapeOf(op.getX());
  for (int64_t axis : op.getPerm()) {
    if (!x.isDynamicDim(axis))
      continue;
    unsigned before = 0;
    for (int64_t i = 0; i < axis; ++i)
      before += x.isDynamicDim(i);
    result.push_back(of[before]);
  }
  return result;
}

/// [G, M, N] of a [G, M, K] and b [G', N, K].
static SmallVector<Axis, 2> ofProduct(BmmOp op) {
  SmallVector<Axis, 2> result, a = dynamicAxes(op.getA()), b = dynamicAxes(op.getB());
  if (shapeOf(op.getA()).isDynamicDim(1))
    result.push_back(a.front());
  if (shapeOf(op.getB()).isDynamicDim(1))
    result.push_back(b.front());
  return result;
}

SmallVector<Axis, 2> dynamicAxes(Value v) {
  using Axes = SmallVector<Axis, 2>;
  auto type = dyn_cast<RankedTensorType>(v.getType());
  if (!type || type.hasStaticShape())
    return {};
  if (auto arg = dyn_cast<BlockArgument>(v))
    return Axes(type.getNumDynamicDims(), axisOfInput(arg));
  if (!isa<VetroDialect>(v.getDefiningOp()->getDialect()))
    return Axes(type.getNumDynamicDims(), Axis::Tokens); // only text makes such values
  return llvm::TypeSwitch<Operation *, Axes>(v.getDefiningOp())
      .Case([](GatherRowsOp op) { return dynamicAxes(op.getIds()); })
      .Case([](HeadNormOp op) { return dynamicAxes(op.getRows()); })
      .Case([](KvLoadOp op) { return dynamicAxes(op.getCells()); })
      .Case([](AttnMaskOp op) {
        return Axes{dynamicAxes(op.getPositions())[0], dynamicAxes(op.getCellPositions())[0]};
      })
      .Case([](BmmOp op) { return ofProduct(op); })
      .Case([](TransposeOp op) { return permuted(op); })
      .Default([](Operation *op) { return dynamicAxes(op->getOperand(0)); });
}

void multiply(Extent &e, Axis axis) {
  (axis == Axis::Tokens ? e.tokens : axis == Axis::Outputs ? e.outputs : e.cells) += 1;
}

Extent elementCount(Value v) {
  Extent e;
  e.scale = staticProduct(shapeOf(v));
  for (Axis axis : dynamicAxes(v))
    multiply(e, axis);
  return e;
}

Extent byteCount(Value v) {
  Extent e = elementCount(v);
  if (uint32_t records = recordsOf(v)) {
    uint64_t k = shapeOf(v).getShape().back();
    e.scale = e.scale / k * records * a8Stride(k);
  } else {
    e.scale *= sizeof(float);
  }
  return e;
}

bool isStep(Operation *op) {
  return isa_and_nonnull<VetroDialect>(op->getDialect()) &&
         !isa<WeightOp, StateOp, GetWeightOp, GetStateOp, ReshapeOp>(op);
}

Value storageOf(Value v) {
  while (auto reshape = v.getDefiningOp<ReshapeOp>())
    v = reshape.getX();
  return v;
}

} // namespace vetro::ir
