// Steps that multiply with weights: one unit is one tile of 16 rows (32 for the gated unit).
#include "compiler/lowering/Emitters.h"
#include "runtime/abi/Kernel.h"

using namespace mlir;

namespace vetro {

static int64_t tilesOf(Value w) { return (ir::shapeOf(w).getDimSize(0) + tileRows - 1) / tileRows; }

/// y[t, r] for rows [rowBegin, rowEnd) of w and all rows t of x; y points at row rowBegin.
static void emitProduct(StepBuilder &s, Value w, Value wAt, Value x, Value xAt, Value rowBegin,
                        Value rowEnd, Value y, int64_t yStride) {
  std::string kernel = ("vt_matmul_" + ir::storageFormat(w)).str();
  s.call(kernel, {wAt, s.i64(ir::shapeOf(w).getDimSize(1)), s.toI32(rowBegin), s.toI32(rowEnd), xAt,
                  s.i64(recordStride(x)), s.i32(std::max(1u, ir::recordsOf(x))),
                  s.toI32(batchRows(s, x)), y, s.i64(yStride)});
}

/// The product for tiles [low, high) of w, into columns of y [T, N].
static void emitTiles(StepBuilder &s, Value w, Value wAt, Value x, Value xAt, Value low, Value high,
                      Value y) {
  int64_t n = ir::shapeOf(w).getDimSize(0);
  Value rowBegin = s.mul(low, s.i64(tileRows));
  Value rowEnd = s.min(s.mul(high, s.i64(tileRows)), s.i64(n));
  emitProduct(s, w, wAt, x, xAt, rowBegin, rowEnd, s.at(y, rowBegin), n);
}

static void emitMatmul(StepBuilder &s, Operation *op) {
  emitTiles(s, op->getOperand(1), s.operand(1), op->getOperand(0), s.operand(0), s.begin(), s.end(),
            s.operand(2));
}
static ir::Extent matmulUnits(Operation *op) { return {uint64_t(tilesOf(op->getOperand(1)))}; }

static void emitMatmulAdd(StepBuilder &s, Operation *op) {
  Value x = op->getOperand(0), w = op->getOperand(1);
  int64_t n = ir::shapeOf(w).getDimSize(0);
  Value residual = s.operand(2), y = s.operand(3);
  emitTiles(s, w, s.operand(1), x, s.operand(0), s.begin(), s.end(), y);
  Value rowBegin = s.mul(s.begin(), s.i64(tileRows));
  Value rowEnd = s.min(s.mul(s.end(), s.i64(tileRows)), s.i64(n));
  s.loop(s.i64(0), batchRows(s, x), 1, [&](Value t) {
    Value offset = s.mul(t, s.i64(n));
    Value out = s.at(y, offset), r = s.at(residual, offset);
    auto addLanes = [&](Value i, int lanes) {
      s.store(s.addF(s.load(out, i, lanes), s.load(r, i, lanes)), out, i);
    };
    Value whole = s.sub(rowEnd, s.rem(s.sub(rowEnd, rowBegin), s.i64(tileRows)));
    s.loop(rowBegin, whole, tileRows, [&](Value i) { addLanes(i, tileRows); });
    s.loop(whole, rowEnd, 1, [&](Value i) { addLanes(i, 1); });
  });
}

/// Units are the tiles of wq, then of wk, then of wv.
static void emitQkv(StepBuilder &s, Operation *op) {
  Value x = op->getOperand(0), xAt = s.operand(0);
  int64_t first = 0;
  for (unsigned m = 1; m <= 3; ++m) {
    Value w = op->getOperand(m);
    int64_t tiles = tilesOf(w);
    Value low = s.max(s.begin(), s.i64(first)), high = s.min(s.end(), s.i64(first + tiles));
    s.ifLess(low, high, [&] {
      emitTiles(s, w, s.operand(m), x, xAt, s.sub(low, s.i64(first)), s.sub(high, s.i64(first)),
                s.operand(3 + m));
    });
    first += tiles;
  }
}
static ir::Extent qkvUnits(Operation *op) {
  return {uint64_t(tilesOf(op->getOperand(1)) + tilesOf(op->getOperand(2)) +
                   tilesOf(op->getOperand(3)))};
}

// The gated unit: 32 rows of gate and up at a time, so that a unit fills whole blocks of a record.
static constexpr int64_t gluRows = 32;

static void emitGlu(StepBuilder &s, Operation *op) {
  auto glu = cast<ir::GluOp>(op);
  Value x = glu.getX(), result = glu.getResult(), y = s.operand(3);
  int64_t n = ir::shapeOf(result).getDimSize(1);
  bool record = ir::recordsOf(result);
  Value tokens = batchRows(s, x), scratch = s.scratch();
  Value gateAt = scratch, upAt = s.at(scratch, s.mul(tokens, s.i64(gluRows)));
  Value xAt = s.operand(0), gateW = s.operand(1), upW = s.operand(2);
  s.loop(s.begin(), s.end(), 1, [&](Value unit) {
    Value low = s.mul(unit, s.i64(gluRows));
    Value high = s.min(s.add(low, s.i64(gluRows)), s.i64(n));
    emitProduct(s, glu.getGate(), gateW, x, xAt, low, high, gateAt, gluRows);
    emitProduct(s, glu.getUp(), upW, x, xAt, low, high, upAt, gluRows);
    s.loop(s.i64(0), tokens, 1, [&](Value t) {
      Value row = s.mul(t, s.i64(gluRows));
      Value gate = s.at(gateAt, row), up = s.at(upAt, row);
      Value out = record ? gate : s.at(y, s.add(s.mul(t, s.i64(n)), low));
      auto lanes16 = [&](Value i, int lanes) {
        Value act = emitUnary(s, glu.getKind(), s.load(gate, i, lanes));
        s.store(s.mulF(act, s.load(up, i, lanes)), out, i);
      };
      if (n % gluRows == 0)
        s.vectors(gluRows, 16, lanes16);
      else
        s.loop(s.i64(0), s.sub(high, low), 1, [&](Value i) { lanes16(i, 1); });
      if (record)
        emitRecords(s, result, y, t, unit, s.add(unit, s.i64(1)), out);
    });
  });
}
static ir::Extent gluUnits(Operation *op) {
  return {uint64_t(ir::shapeOf(op->getResult(0)).getDimSize(1) + gluRows - 1) / gluRows};
}
static ir::Extent gluScratch(Operation *op) {
  ir::Extent e = rowCount(op->getResult(0));
  e.scale *= 2 * gluRows * sizeof(float);
  return e;
}

/// Rows of a table: of a weight (dequantised) or of an activation (copied). One unit is one row.
static void emitGather(StepBuilder &s, Operation *op) {
  Value table = op->getOperand(0);
  int64_t n = ir::shapeOf(table).getDimSize(1);
  Value tableAt = s.operand(0), ids = s.operand(1), y = s.operand(2);
  bool weight = table.getDefiningOp<ir::GetWeightOp>();
  s.loop(s.begin(), s.end(), 1, [&](Value unit) {
    Value row = s.loadId(ids, unit), out = s.at(y, s.mul(unit, s.i64(n)));
    if (weight)
      return s.call(("vt_gather_" + ir::storageFormat(table)).str(), {tableAt, s.i64(n), row, out});
    Value in = s.at(tableAt, s.mul(row, s.i64(n)));
    s.vectors(n, 16, [&](Value i, int lanes) { s.store(s.load(in, i, lanes), out, i); });
  });
}
static ir::Extent gatherUnits(Operation *op) { return rowCount(op->getResult(0)); }

EmitterTable matmulEmitters() {
  static const std::pair<StringRef, Emitter> table[] = {
      {"vetro.matmul", {emitMatmul, matmulUnits}},
      {"vetro.matmul_add", {emitMatmulAdd, matmulUnits}},
      {"vetro.qkv_matmul", {emitQkv, qkvUnits}},
      {"vetro.glu", {emitGlu, gluUnits, gluScratch}},
      {"vetro.gather_rows", {emitGather, gatherUnits}},
  };
  return table;
}

} // namespace vetro
