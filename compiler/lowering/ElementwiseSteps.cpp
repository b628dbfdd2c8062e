// Steps of the element-wise ops: one unit is one row.
#include "compiler/lowering/Emitters.h"

using namespace mlir;

namespace vetro {

Value emitUnary(StepBuilder &s, StringRef kind, Value x) {
  OpBuilder &b = s.builder();
  Location loc = s.location();
  int lanes = cast<VectorType>(x.getType()).getDimSize(0);
  auto c = [&](float v) { return s.splat(v, lanes); };
  auto exp = [&](Value v) -> Value { return math::ExpOp::create(b, loc, v); };
  auto tanh = [&](Value v) -> Value { return math::TanhOp::create(b, loc, v); };
  auto neg = [&](Value v) -> Value { return arith::NegFOp::create(b, loc, v); };
  auto logistic = [&](Value numerator, Value v) {
    return s.divF(numerator, s.addF(c(1), exp(neg(v))));
  };
  if (kind == "silu")
    return logistic(x, x);
  if (kind == "gelu") {
    Value cubic = s.addF(c(1), s.mulF(s.mulF(c(0.044715f), x), x));
    Value inner = s.mulF(s.mulF(c(0.79788456080286535588f), x), cubic);
    return s.mulF(s.mulF(c(0.5f), x), s.addF(c(1), tanh(inner)));
  }
  if (kind == "gelu_erf") {
    Value erf = math::ErfOp::create(b, loc, s.mulF(x, c(0.70710678118654752440f)));
    return s.mulF(s.mulF(c(0.5f), x), s.addF(c(1), erf));
  }
  if (kind == "gelu_quick")
    return logistic(x, s.mulF(c(1.702f), x));
  if (kind == "relu")
    return arith::MaximumFOp::create(b, loc, x, c(0));
  if (kind == "sqr")
    return s.mulF(x, x);
  if (kind == "sqrt")
    return math::SqrtOp::create(b, loc, x);
  if (kind == "sigmoid")
    return logistic(c(1), x);
  if (kind == "tanh")
    return tanh(x);
  if (kind == "exp")
    return exp(x);
  if (kind == "neg")
    return neg(x);
  assert(kind == "softplus" && "verified");
  Value big = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, c(20));
  Value soft = math::Log1pOp::create(b, loc, exp(x));
  return arith::SelectOp::create(b, loc, big, x, soft);
}

static ir::Extent rows(Operation *op) { return rowCount(op->getResult(0)); }

/// y[row] = f(a[row], b), b repeated along missing axes and axes of length 1.
static void emitBinary(StepBuilder &s, Operation *op) {
  SmallVector<Value> dims = dimensions(s, op->getResult(0));
  SmallVector<Value> strides = broadcastStrides(s, op->getOperand(1), dims.size());
  bool one = getConstantIntValue(strides.back()) == 0; // b repeats one number along the row
  Value n = dims.back(), a = s.operand(0), b = s.operand(1), y = s.operand(2);
  s.loop(s.begin(), s.end(), 1, [&](Value row) {
    Value offset = s.mul(row, n);
    Value aRow = s.at(a, offset), yRow = s.at(y, offset);
    Value bRow = s.at(b, rowOffset(s, dims, strides, row));
    s.vectors(n, 16, [&](Value i, int lanes) {
      Value p = s.load(aRow, i, lanes);
      Value q = one ? s.splat(s.loadScalar(bRow, s.i64(0)), lanes) : s.load(bRow, i, lanes);
      s.store(isa<ir::AddOp>(op)   ? s.addF(p, q)
              : isa<ir::DivOp>(op) ? s.divF(p, q)
                                   : s.mulF(p, q),
              yRow, i);
    });
  });
}

static void emitMap(StepBuilder &s, Operation *op, llvm::function_ref<Value(Value, int)> f) {
  Value n = dimensions(s, op->getResult(0)).back(), x = s.operand(0), y = s.operand(1);
  s.loop(s.begin(), s.end(), 1, [&](Value row) {
    Value offset = s.mul(row, n);
    Value xRow = s.at(x, offset), yRow = s.at(y, offset);
    s.vectors(n, 16,
              [&](Value i, int lanes) { s.store(f(s.load(xRow, i, lanes), lanes), yRow, i); });
  });
}
static void emitScale(StepBuilder &s, Operation *op) {
  float factor = cast<ir::ScaleOp>(op).getS().convertToFloat();
  emitMap(s, op, [&](Value x, int lanes) { return s.mulF(s.splat(factor, lanes), x); });
}
static void emitUnaryStep(StepBuilder &s, Operation *op) {
  StringRef kind = cast<ir::UnaryOp>(op).getKind();
  emitMap(s, op, [&](Value x, int) { return emitUnary(s, kind, x); });
}

EmitterTable elementwiseEmitters() {
  static const std::pair<StringRef, Emitter> table[] = {
      {"vetro.add", {emitBinary, rows}},      {"vetro.mul", {emitBinary, rows}},
      {"vetro.div", {emitBinary, rows}},      {"vetro.scale", {emitScale, rows}},
      {"vetro.unary", {emitUnaryStep, rows}},
  };
  return table;
}

} // namespace vetro
