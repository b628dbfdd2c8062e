// Steps of an attention that no pass fused: products of activations, mask, softmax. One unit is
// one row of the result.
//
// A row's bits must not depend on how many cells stand beside the ones it sees: a micro-batch, or
// another sequence in it, adds masked cells only. So every sum over cells runs through them one by
// one in index order, where a masked cell adds exactly 0 and changes nothing. Sums over a model
// dimension use 16 lanes, whose order is the same for all rows.
#include "compiler/lowering/Emitters.h"

#include <limits>

using namespace mlir;

namespace vetro {

static ir::Extent rows(Operation *op) { return rowCount(op->getResult(0)); }

/// y[0..n) = a . b[i, 0..k) for the rows b[i], k a model dimension.
static void emitDots(StepBuilder &s, Value a, Value b, Value y, Value n, int64_t k) {
  s.loop(s.i64(0), n, 1, [&](Value i) {
    Value bRow = s.at(b, s.mul(i, s.i64(k)));
    Value dot = s.sum(
        k, [&](Value j, int lanes) { return s.mulF(s.load(a, j, lanes), s.load(bRow, j, lanes)); });
    s.store(dot, y, i);
  });
}

/// The same over k cells: lanes are rows of b, each summed in index order.
static void emitCellDots(StepBuilder &s, Value a, Value b, Value y, Value n, Value k) {
  OpBuilder &build = s.builder();
  s.vectors(n, 16, [&](Value first, int lanes) {
    Value block = s.at(b, s.mul(first, k));
    Value sums = s.fold(s.i64(0), k, 1, s.splat(0.0f, lanes), [&](Value c, Value sum) {
      Value column = s.splat(0.0f, lanes);
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Value number = s.loadScalar(block, s.add(s.mul(s.i64(lane), k), c));
        column = vector::InsertOp::create(build, s.location(), number, column, lane);
      }
      return s.addF(sum, s.mulF(s.splat(s.loadScalar(a, c), lanes), column));
    });
    s.store(sums, y, first);
  });
}

static void emitBmm(StepBuilder &s, Operation *op) {
  auto bmm = cast<ir::BmmOp>(op);
  SmallVector<Value> dimsA = dimensions(s, bmm.getA()), dimsB = dimensions(s, bmm.getB());
  int64_t share = ir::shapeOf(bmm.getA()).getDimSize(0) / ir::shapeOf(bmm.getB()).getDimSize(0);
  Value n = dimsB[1], k = dimsB[2], a = s.operand(0), b = s.operand(1), y = s.operand(2);
  std::optional<int64_t> width = getConstantIntValue(k);
  s.loop(s.begin(), s.end(), 1, [&](Value row) {
    Value group = s.div(s.div(row, dimsA[1]), s.i64(share));
    Value aRow = s.at(a, s.mul(row, k)), yRow = s.at(y, s.mul(row, n));
    Value matrix = s.at(b, s.mul(group, s.mul(n, k)));
    if (width)
      emitDots(s, aRow, matrix, yRow, n, *width);
    else
      emitCellDots(s, aRow, matrix, yRow, n, k);
  });
}

/// Largest of n numbers; the order does not matter.
static Value emitMax(StepBuilder &s, Value x, Value n) {
  Value lowest = s.f32(-std::numeric_limits<float>::infinity());
  return s.fold(s.i64(0), n, 1, lowest,
                [&](Value i, Value max) { return s.maxF(s.loadScalar(x, i), max); });
}

/// Sum of n numbers in index order, in double; rounded once.
static Value emitOrderedSum(StepBuilder &s, Value x, Value n) {
  OpBuilder &b = s.builder();
  Location loc = s.location();
  Value zero = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(0));
  Value sum = s.fold(s.i64(0), n, 1, zero, [&](Value i, Value acc) -> Value {
    Value wide = arith::ExtFOp::create(b, loc, b.getF64Type(), s.loadScalar(x, i));
    return arith::AddFOp::create(b, loc, acc, wide);
  });
  return arith::TruncFOp::create(b, loc, b.getF32Type(), sum);
}

static void emitSoftmax(StepBuilder &s, Operation *op) {
  OpBuilder &b = s.builder();
  Location loc = s.location();
  Value n = dimensions(s, op->getResult(0)).back(), x = s.operand(0), y = s.operand(1);
  s.loop(s.begin(), s.end(), 1, [&](Value row) {
    Value in = s.at(x, s.mul(row, n)), out = s.at(y, s.mul(row, n));
    Value max = emitMax(s, in, n);
    s.vectors(n, 16, [&](Value i, int lanes) {
      Value v = s.load(in, i, lanes);
      Value lowest = s.splat(-std::numeric_limits<float>::infinity(), lanes);
      Value masked = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, v, lowest);
      Value e = math::ExpOp::create(b, loc, s.subF(v, s.splat(max, lanes)));
      // The polynomial leaves 1e-38 at -inf: a masked cell must weigh exactly nothing.
      s.store(arith::SelectOp::create(b, loc, masked, s.splat(0.0f, lanes), e), out, i);
    });
    Value sum = emitOrderedSum(s, out, n);
    s.vectors(n, 16, [&](Value i, int lanes) {
      s.store(s.divF(s.load(out, i, lanes), s.splat(sum, lanes)), out, i);
    });
  });
}

static void emitMask(StepBuilder &s, Operation *op) {
  OpBuilder &b = s.builder();
  Location loc = s.location();
  int64_t window = cast<ir::AttnMaskOp>(op).getWindow();
  Value positions = s.operand(0), sequences = s.operand(1), y = s.operand(4);
  Value cellPositions = s.operand(2), cellSequences = s.operand(3);
  Value n = dimensions(s, op->getResult(0)).back();
  auto compare = [&](arith::CmpIPredicate how, Value p, Value q) -> Value {
    return arith::CmpIOp::create(b, loc, how, p, q);
  };
  s.loop(s.begin(), s.end(), 1, [&](Value t) {
    Value position = s.loadId(positions, t), sequence = s.loadId(sequences, t);
    Value out = s.at(y, s.mul(t, n));
    s.loop(s.i64(0), n, 1, [&](Value c) {
      Value cell = s.loadId(cellPositions, c);
      Value seen = s.both(compare(arith::CmpIPredicate::eq, sequence, s.loadId(cellSequences, c)),
                          compare(arith::CmpIPredicate::ule, cell, position));
      if (window > 0)
        seen =
            s.both(seen, compare(arith::CmpIPredicate::ugt, s.add(cell, s.i64(window)), position));
      Value bias = arith::SelectOp::create(b, loc, seen, s.f32(0),
                                           s.f32(-std::numeric_limits<float>::infinity()));
      s.store(bias, out, c);
    });
  });
}

EmitterTable attentionEmitters() {
  static const std::pair<StringRef, Emitter> table[] = {
      {"vetro.bmm", {emitBmm, rows}},
      {"vetro.softmax", {emitSoftmax, rows}},
      {"vetro.attn_mask", {emitMask, rows}},
  };
  return table;
}

} // namespace vetro
