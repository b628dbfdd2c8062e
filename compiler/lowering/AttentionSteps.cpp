// Steps of an attention that no pass fused: products of activations, mask, softmax. One unit is
// one row of the result.
//
// A row's bits must not depend on how many cells stand beside the ones it sees: a micro-batch, or
// another sequence in it, adds masked cells only. So every sum over cells runs through them one by
// one in index order and steps over masked cells, whatever they hold. Sums over a model dimension
// use 16 lanes, whose order is the same for all rows.
#include "compiler/lowering/Emitters.h"

#include <limits>

using namespace mlir;

namespace vetro {

static ir::Extent rows(Operation *op) { return rowCount(op->getResult(0)); }

constexpr float lowest = -std::numeric_limits<float>::infinity();

/// `seen` where the mask lets [i, i + lanes) through, else `instead`; `seen` without a mask. 0
/// lanes: one number of the mask decides for all of `seen`.
static Value whereSeen(StepBuilder &s, Value mask, Value i, int lanes, Value seen, Value instead) {
  if (!mask)
    return seen;
  Value bias = lanes ? s.load(mask, i, lanes) : s.loadScalar(mask, i);
  Value limit = lanes ? s.splat(lowest, lanes) : s.f32(lowest);
  Value hidden =
      arith::CmpFOp::create(s.builder(), s.location(), arith::CmpFPredicate::OEQ, bias, limit);
  return arith::SelectOp::create(s.builder(), s.location(), hidden, instead, seen);
}

/// The row of the mask that belongs to a row of an op's first operand [..., M, N]; null: no mask.
static Value maskRow(StepBuilder &s, Operation *op, unsigned operand, Value row) {
  if (op->getNumOperands() <= operand)
    return {};
  SmallVector<Value> dims = dimensions(s, op->getOperand(operand));
  return s.at(s.operand(operand), s.mul(s.rem(row, dims[0]), dims[1]));
}

/// y[0..n) = a . b[i, 0..k) for the rows b[i], k a model dimension.
static void emitDots(StepBuilder &s, Value a, Value b, Value mask, Value y, Value n, int64_t k) {
  s.loop(s.i64(0), n, 1, [&](Value i) {
    Value bRow = s.at(b, s.mul(i, s.i64(k)));
    Value dot = s.sum(k, [&](Value j, int lanes) {
      Value product = s.mulF(s.load(a, j, lanes), s.load(bRow, j, lanes));
      return whereSeen(s, mask, j, lanes, product, s.splat(0.0f, lanes));
    });
    s.store(dot, y, i);
  });
}

/// The same over k cells: lanes are rows of b, each summed in index order.
static void emitCellDots(StepBuilder &s, Value a, Value b, Value mask, Value y, Value n, Value k) {
  OpBuilder &build = s.builder();
  s.vectors(n, 16, [&](Value first, int lanes) {
    Value block = s.at(b, s.mul(first, k));
    Value sums = s.fold(s.i64(0), k, 1, s.splat(0.0f, lanes), [&](Value c, Value sum) {
      Value column = s.splat(0.0f, lanes);
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Value number = s.loadScalar(block, s.add(s.mul(s.i64(lane), k), c));
        column = vector::InsertOp::create(build, s.location(), number, column, lane);
      }
      Value next = s.addF(sum, s.mulF(s.splat(s.loadScalar(a, c), lanes), column));
      return whereSeen(s, mask, c, 0, next, sum);
    });
    s.store(sums, y, first);
  });
}

static void emitBmm(StepBuilder &s, Operation *op) {
  auto bmm = cast<ir::BmmOp>(op);
  SmallVector<Value> dimsA = dimensions(s, bmm.getA()), dimsB = dimensions(s, bmm.getB());
  int64_t share = ir::shapeOf(bmm.getA()).getDimSize(0) / ir::shapeOf(bmm.getB()).getDimSize(0);
  Value n = dimsB[1], k = dimsB[2], a = s.operand(0), b = s.operand(1);
  Value y = s.operand(op->getNumOperands());
  std::optional<int64_t> width = getConstantIntValue(k);
  s.loop(s.begin(), s.end(), 1, [&](Value row) {
    Value group = s.div(s.div(row, dimsA[1]), s.i64(share));
    Value aRow = s.at(a, s.mul(row, k)), yRow = s.at(y, s.mul(row, n));
    Value matrix = s.at(b, s.mul(group, s.mul(n, k))), mask = maskRow(s, op, 2, row);
    if (width)
      emitDots(s, aRow, matrix, mask, yRow, n, *width);
    else
      emitCellDots(s, aRow, matrix, mask, yRow, n, k);
  });
}

/// Largest of those of n numbers that the mask lets through; the order does not matter.
static Value emitMax(StepBuilder &s, Value x, Value mask, Value n) {
  return s.fold(s.i64(0), n, 1, s.f32(lowest), [&](Value i, Value max) {
    return whereSeen(s, mask, i, 0, s.maxF(s.loadScalar(x, i), max), max);
  });
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
  Value n = dimensions(s, op->getResult(0)).back(), x = s.operand(0);
  Value y = s.operand(op->getNumOperands());
  s.loop(s.begin(), s.end(), 1, [&](Value row) {
    Value in = s.at(x, s.mul(row, n)), out = s.at(y, s.mul(row, n));
    Value mask = maskRow(s, op, 1, row), max = emitMax(s, in, mask, n);
    s.vectors(n, 16, [&](Value i, int lanes) {
      Value none = s.splat(lowest, lanes);
      Value v = whereSeen(s, mask, i, lanes, s.load(in, i, lanes), none);
      Value masked = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, v, none);
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
      Value bias = arith::SelectOp::create(b, loc, seen, s.f32(0), s.f32(lowest));
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
