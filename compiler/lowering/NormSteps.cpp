// Steps of the norms: one unit is one row.
#include "compiler/lowering/Emitters.h"
#include "runtime/abi/Kernel.h"

using namespace mlir;

namespace vetro {

ir::Extent rowCount(Value v) {
  ir::Extent e = ir::elementCount(v);
  if (!ShapedType::isDynamic(ir::shapeOf(v).getShape().back()))
    e.scale /= ir::shapeOf(v).getShape().back();
  else
    (ir::dynamicAxes(v).back() == ir::Axis::Cells     ? e.cells
     : ir::dynamicAxes(v).back() == ir::Axis::Outputs ? e.outputs
                                                      : e.tokens) -= 1;
  return e;
}

SmallVector<Value> dimensions(StepBuilder &s, Value v) {
  static constexpr BatchField fields[] = {BatchField::NTokens, BatchField::NOutputs,
                                          BatchField::NCells};
  SmallVector<Value> dims;
  SmallVector<ir::Axis, 2> axes = ir::dynamicAxes(v);
  unsigned dynamic = 0;
  for (int64_t d : ir::shapeOf(v).getShape())
    dims.push_back(ShapedType::isDynamic(d) ? s.batchField(fields[int(axes[dynamic++])])
                                            : s.i64(d));
  return dims;
}

Value batchRows(StepBuilder &s, Value v) { return dimensions(s, v).front(); }

void emitNormRow(StepBuilder &s, Value x, Value w, Value y, int64_t n, float eps) {
  OpBuilder &b = s.builder();
  Value squares = s.sum(n, [&](Value i, int lanes) {
    Value v = s.load(x, i, lanes);
    return s.mulF(v, v);
  });
  Value mean = s.divF(squares, s.f32(float(n)));
  Value root = math::SqrtOp::create(b, s.location(), s.addF(mean, s.f32(eps)));
  Value scale = s.divF(s.f32(1), root);
  s.vectors(n, 16, [&](Value i, int lanes) {
    Value v = s.mulF(s.load(x, i, lanes), s.splat(scale, lanes));
    if (w)
      v = s.mulF(v, s.load(w, i, lanes));
    s.store(v, y, i);
  });
}

int64_t recordStride(Value x) {
  int64_t k = ir::shapeOf(x).getShape().back();
  return ir::recordsOf(x) ? a8Stride(k) : k * sizeof(float);
}

void emitRecords(StepBuilder &s, Value result, Value base, Value row, Value begin, Value end,
                 Value x) {
  int64_t records = ir::recordsOf(result);
  s.call("vt_quantize_a8",
         {x, s.i64(ir::shapeOf(result).getShape().back()), s.toI32(begin), s.toI32(end),
          s.i32(records), s.atBytes(base, s.mul(row, s.i64(records * recordStride(result))))});
}

void emitRow(StepBuilder &s, Value result, Value base, Value unit,
             llvm::function_ref<void(Value)> body) {
  int64_t n = ir::shapeOf(result).getShape().back();
  if (!ir::recordsOf(result))
    return body(s.at(base, s.mul(unit, s.i64(n))));
  Value row = s.scratch();
  body(row);
  emitRecords(s, result, base, unit, s.i64(0), s.i64(n / 32), row);
}

ir::Extent rowScratch(Value result) {
  return {ir::recordsOf(result) ? uint64_t(ir::shapeOf(result).getShape().back()) * sizeof(float)
                                : 0};
}

static ir::Extent rowsOfResult(Operation *op) { return rowCount(op->getResult(0)); }
static ir::Extent scratchOfResult(Operation *op) { return rowScratch(op->getResult(0)); }

/// rms_norm (no weight) and rms_norm_mul: x row by row.
static void emitNorm(StepBuilder &s, Operation *op) {
  Value result = op->getResult(0);
  int64_t n = ir::shapeOf(result).getShape().back();
  float eps = op->getAttrOfType<FloatAttr>("eps").getValueAsDouble();
  unsigned inputs = op->getNumOperands();
  Value x = s.operand(0), w = inputs > 1 ? s.operand(1) : Value(), y = s.operand(inputs);
  s.loop(s.begin(), s.end(), 1, [&](Value row) {
    emitRow(s, result, y, row,
            [&](Value out) { emitNormRow(s, s.at(x, s.mul(row, s.i64(n))), w, out, n, eps); });
  });
}

static void emitNormAdd(StepBuilder &s, Operation *op) {
  int64_t n = ir::shapeOf(op->getResult(0)).getShape().back();
  float eps = cast<ir::RMSNormMulAddOp>(op).getEps().convertToFloat();
  Value x = s.operand(0), w = s.operand(1), residual = s.operand(2), y = s.operand(3);
  s.loop(s.begin(), s.end(), 1, [&](Value row) {
    Value offset = s.mul(row, s.i64(n));
    Value out = s.at(y, offset), r = s.at(residual, offset);
    emitNormRow(s, s.at(x, offset), w, out, n, eps);
    s.vectors(n, 16, [&](Value i, int lanes) {
      s.store(s.addF(s.load(out, i, lanes), s.load(r, i, lanes)), out, i);
    });
  });
}

static void emitHeadNorm(StepBuilder &s, Operation *op) {
  Value result = op->getResult(0);
  int64_t n = ir::shapeOf(result).getShape().back();
  float eps = cast<ir::HeadNormOp>(op).getEps().convertToFloat();
  Value x = s.operand(0), rows = s.operand(1), w = s.operand(2), y = s.operand(3);
  s.loop(s.begin(), s.end(), 1, [&](Value unit) {
    Value row = s.loadId(rows, unit);
    emitRow(s, result, y, unit,
            [&](Value out) { emitNormRow(s, s.at(x, s.mul(row, s.i64(n))), w, out, n, eps); });
  });
}

static void emitQuantize(StepBuilder &s, Operation *op) {
  int64_t n = ir::shapeOf(op->getResult(0)).getShape().back();
  Value x = s.operand(0), y = s.operand(1);
  s.loop(s.begin(), s.end(), 1, [&](Value row) {
    emitRecords(s, op->getResult(0), y, row, s.i64(0), s.i64(n / 32),
                s.at(x, s.mul(row, s.i64(n))));
  });
}

EmitterTable normEmitters() {
  static const std::pair<StringRef, Emitter> table[] = {
      {"vetro.rms_norm", {emitNorm, rowsOfResult}},
      {"vetro.rms_norm_mul", {emitNorm, rowsOfResult, scratchOfResult}},
      {"vetro.rms_norm_mul_add", {emitNormAdd, rowsOfResult}},
      {"vetro.head_norm", {emitHeadNorm, rowsOfResult, scratchOfResult}},
      {"vetro.quantize", {emitQuantize, rowsOfResult}},
  };
  return table;
}

} // namespace vetro
