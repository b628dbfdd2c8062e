// Steps of layer norm and of mixtures of experts. One unit is one row, but for the experts' matmul,
// where it is a tile of 16 rows of every expert: a tile that several tokens need stays in the
// cache.
#include "compiler/lowering/Emitters.h"
#include "runtime/abi/Kernel.h"

using namespace mlir;

namespace vetro {

static ir::Extent rows(Operation *op) { return rowCount(op->getResult(0)); }

static void emitLayerNorm(StepBuilder &s, Operation *op) {
  OpBuilder &b = s.builder();
  int64_t n = ir::shapeOf(op->getResult(0)).getShape().back();
  float eps = cast<ir::LayerNormOp>(op).getEps().convertToFloat();
  Value x = s.operand(0), y = s.operand(1);
  s.loop(s.begin(), s.end(), 1, [&](Value row) {
    Value in = s.at(x, s.mul(row, s.i64(n))), out = s.at(y, s.mul(row, s.i64(n)));
    Value total = s.sum(n, [&](Value i, int lanes) { return s.load(in, i, lanes); });
    Value mean = s.divF(total, s.f32(float(n)));
    auto centred = [&](Value i, int lanes) {
      return s.subF(s.load(in, i, lanes), s.splat(mean, lanes));
    };
    Value squares = s.sum(n, [&](Value i, int lanes) {
      Value d = centred(i, lanes);
      return s.mulF(d, d);
    });
    Value variance = s.addF(s.divF(squares, s.f32(float(n))), s.f32(eps));
    Value root = math::SqrtOp::create(b, s.location(), variance);
    Value scale = s.divF(s.f32(1), root);
    s.vectors(n, 16, [&](Value i, int lanes) {
      s.store(s.mulF(centred(i, lanes), s.splat(scale, lanes)), out, i);
    });
  });
}

static void emitTopK(StepBuilder &s, Operation *op) {
  auto top = cast<ir::TopKOp>(op);
  int64_t n = ir::shapeOf(top.getX()).getDimSize(1), k = top.getK();
  Value x = s.operand(0), y = s.operand(1);
  s.loop(s.begin(), s.end(), 1, [&](Value t) {
    s.call("vt_top_k",
           {s.at(x, s.mul(t, s.i64(n))), s.i32(n), s.i32(k), s.i32(top.getGroups()),
            s.i32(top.getGroupsUsed()), s.at(y, s.mul(t, s.i64(k)))}); // an id is 4 bytes too
  });
}

static void emitTakeAlong(StepBuilder &s, Operation *op) {
  int64_t n = ir::shapeOf(op->getOperand(0)).getDimSize(1);
  int64_t k = ir::shapeOf(op->getOperand(1)).getDimSize(1);
  Value x = s.operand(0), idx = s.operand(1), y = s.operand(2);
  s.loop(s.begin(), s.end(), 1, [&](Value t) {
    s.loop(s.i64(0), s.i64(k), 1, [&](Value j) {
      Value at = s.add(s.mul(t, s.i64(k)), j);
      Value from = s.add(s.mul(t, s.i64(n)), s.loadId(idx, at));
      s.store(s.load(x, from, 1), y, at);
    });
  });
}

namespace {
/// One row of x times rows [first, first + count) of the experts' matrices, which lie one after the
/// other in tiles of 16 rows.
struct ExpertProduct {
  StepBuilder &s;
  std::string kernel;
  Value w;
  int64_t k, xStride;
  uint32_t records;

  void run(Value first, Value count, Value x, Value y, int64_t yStride) {
    s.call(kernel, {w, s.i64(k), s.toI32(first), s.toI32(s.add(first, count)), x, s.i64(xStride),
                    s.i32(records), s.i32(1), y, s.i64(yStride)});
  }

  /// Where an expert's rows are no whole tiles, `first` may lie inside one: computes from the
  /// tile's start into scratch, and copies.
  void runInside(Value first, Value count, Value x, Value y) {
    Value skip = s.rem(first, s.i64(tileRows)), buffer = s.scratch();
    run(s.sub(first, skip), s.add(skip, count), x, buffer, 2 * tileRows);
    s.loop(s.i64(0), count, 1, [&](Value i) { s.store(s.load(buffer, s.add(skip, i), 1), y, i); });
  }
};
} // namespace

static void emitMoeMatmul(StepBuilder &s, Operation *op) {
  auto moe = cast<ir::MoeMatmulOp>(op);
  RankedTensorType x = ir::shapeOf(moe.getX()), w = ir::shapeOf(moe.getW());
  int64_t n = w.getDimSize(1), k = w.getDimSize(2);
  int64_t chosen = ir::shapeOf(moe.getIdx()).getDimSize(1), share = chosen / x.getDimSize(1);
  int64_t xStride = recordStride(moe.getX());
  uint32_t records = std::max(1u, ir::recordsOf(moe.getX()));
  Value xAt = s.operand(0), idx = s.operand(2), y = s.operand(3);
  ExpertProduct product{
      s, ("vt_matmul_" + ir::storageFormat(moe.getW())).str(), s.operand(1), k, xStride, records};
  Value pairs = s.mul(batchRows(s, moe.getX()), s.i64(chosen));
  s.loop(s.begin(), s.end(), 1, [&](Value tile) {
    Value low = s.mul(tile, s.i64(tileRows));
    Value count = s.min(s.i64(tileRows), s.sub(s.i64(n), low));
    s.loop(s.i64(0), pairs, 1, [&](Value pair) {
      Value first = s.add(s.mul(s.loadId(idx, pair), s.i64(n)), low);
      Value row = s.atBytes(xAt, s.mul(s.div(pair, s.i64(share)), s.i64(records * xStride)));
      Value out = s.at(y, s.add(s.mul(pair, s.i64(n)), low));
      if (n % tileRows == 0)
        product.run(first, count, row, out, n);
      else
        product.runInside(first, count, row, out);
    });
  });
}
static ir::Extent tilesOfExpert(Operation *op) {
  int64_t n = ir::shapeOf(op->getOperand(1)).getDimSize(1);
  return {uint64_t(n + tileRows - 1) / tileRows};
}
static ir::Extent twoTiles(Operation *) { return {2 * tileRows * sizeof(float)}; }

/// Elements after `axis`: what one unit of a reduction writes.
static int64_t innerOf(ir::ReduceOp op) {
  int64_t inner = 1;
  for (int64_t d : ir::shapeOf(op.getX()).getShape().drop_front(op.getAxis() + 1))
    inner *= d;
  return inner;
}

static void emitReduce(StepBuilder &s, Operation *op) {
  auto reduce = cast<ir::ReduceOp>(op);
  int64_t len = ir::shapeOf(reduce.getX()).getDimSize(reduce.getAxis()), inner = innerOf(reduce);
  bool max = reduce.getKind() == "max";
  Value x = s.operand(0), y = s.operand(1);
  s.loop(s.begin(), s.end(), 1, [&](Value unit) {
    Value in = s.at(x, s.mul(unit, s.i64(len * inner))), out = s.at(y, s.mul(unit, s.i64(inner)));
    s.vectors(inner, 16, [&](Value i, int lanes) { s.store(s.load(in, i, lanes), out, i); });
    s.loop(s.i64(1), s.i64(len), 1, [&](Value j) {
      Value next = s.at(in, s.mul(j, s.i64(inner)));
      s.vectors(inner, 16, [&](Value i, int lanes) {
        Value a = s.load(out, i, lanes), b = s.load(next, i, lanes);
        Value both = max ? arith::MaximumFOp::create(s.builder(), s.location(), a, b).getResult()
                         : s.addF(a, b);
        s.store(both, out, i);
      });
    });
    if (reduce.getKind() == "mean")
      s.vectors(inner, 16, [&](Value i, int lanes) {
        s.store(s.divF(s.load(out, i, lanes), s.splat(float(len), lanes)), out, i);
      });
  });
}
static ir::Extent reduceUnits(Operation *op) {
  ir::Extent e = ir::elementCount(op->getResult(0));
  e.scale /= uint64_t(innerOf(cast<ir::ReduceOp>(op)));
  return e;
}

static void emitClamp(StepBuilder &s, Operation *op) {
  auto clamp = cast<ir::ClampOp>(op);
  OpBuilder &b = s.builder();
  int64_t n = ir::shapeOf(op->getResult(0)).getShape().back();
  float lo = clamp.getLo().convertToFloat(), hi = clamp.getHi().convertToFloat();
  Value x = s.operand(0), y = s.operand(1);
  s.loop(s.begin(), s.end(), 1, [&](Value row) {
    Value in = s.at(x, s.mul(row, s.i64(n))), out = s.at(y, s.mul(row, s.i64(n)));
    s.vectors(n, 16, [&](Value i, int lanes) {
      Value v = s.load(in, i, lanes);
      v = arith::MaximumFOp::create(b, s.location(), v, s.splat(lo, lanes));
      v = arith::MinimumFOp::create(b, s.location(), v, s.splat(hi, lanes));
      s.store(v, out, i);
    });
  });
}

EmitterTable moeEmitters() {
  static const std::pair<StringRef, Emitter> table[] = {
      {"vetro.layer_norm", {emitLayerNorm, rows}},
      {"vetro.top_k", {emitTopK, rows}},
      {"vetro.take_along", {emitTakeAlong, rows}},
      {"vetro.moe_matmul", {emitMoeMatmul, tilesOfExpert, twoTiles}},
      {"vetro.reduce", {emitReduce, reduceUnits}},
      {"vetro.clamp", {emitClamp, rows}},
  };
  return table;
}

} // namespace vetro
