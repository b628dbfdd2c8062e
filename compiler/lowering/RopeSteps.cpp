// Steps of the rotary embedding.
#include "compiler/lowering/Emitters.h"
#include "compiler/reference/Rope.h"

using namespace mlir;

namespace vetro {

static Value nullPointer(StepBuilder &s) {
  auto type = LLVM::LLVMPointerType::get(s.builder().getContext());
  return LLVM::ZeroOp::create(s.builder(), s.location(), type);
}

/// A unit is one token. The frequencies are a constant of the code.
static void emitTable(StepBuilder &s, Operation *op) {
  auto table = cast<ir::RopeTableOp>(op);
  Value frequencies = s.constantArray(ref::ropeFrequencies(ref::ropeParams(table)));
  bool hasFactors = bool(table.getFactors());
  Value factors = hasFactors ? s.operand(1) : nullPointer(s);
  s.call("vt_rope_table",
         {s.operand(0), s.toI32(s.begin()), s.toI32(s.end()), frequencies, factors,
          s.i32(table.getNDims() / 2), s.f32(ref::ropeMagnitude(ref::ropeParams(table))),
          s.operand(hasFactors ? 2 : 1)});
}
static ir::Extent tableUnits(Operation *op) {
  ir::Extent e = ir::elementCount(op->getResult(0));
  e.scale = 1;
  return e;
}

/// Rotates one head of d numbers from x to y by one row of the table.
static void emitRotation(StepBuilder &s, Value x, Value y, Value table, int64_t nDims, int64_t d,
                         bool neighbours) {
  OpBuilder &b = s.builder();
  int64_t half = nDims / 2;
  s.vectors(half, 8, [&](Value i, int lanes) {
    auto split = [&](Value pairs) {
      auto parts = vector::DeinterleaveOp::create(b, s.location(), pairs);
      return std::pair<Value, Value>(parts.getRes1(), parts.getRes2());
    };
    Value twice = s.mul(i, s.i64(2));
    auto [cos, sin] = split(s.load(table, twice, 2 * lanes));
    Value a, c;
    if (neighbours)
      std::tie(a, c) = split(s.load(x, twice, 2 * lanes));
    else
      a = s.load(x, i, lanes), c = s.load(x, s.add(i, s.i64(half)), lanes);
    Value first = s.subF(s.mulF(a, cos), s.mulF(c, sin));
    Value second = s.addF(s.mulF(a, sin), s.mulF(c, cos));
    if (neighbours) {
      Value mixed = vector::InterleaveOp::create(b, s.location(), first, second);
      return s.store(mixed, y, twice);
    }
    s.store(first, y, i);
    s.store(second, y, s.add(i, s.i64(half)));
  });
  Value rest = s.i64(nDims);
  s.vectors(d - nDims, 16, [&](Value i, int lanes) {
    s.store(s.load(x, s.add(i, rest), lanes), y, s.add(i, rest));
  });
}

/// A unit is one token: its cosines and sines into scratch, then its heads.
static void emitRope(StepBuilder &s, Operation *op) {
  auto rope = cast<ir::RopeOp>(op);
  RankedTensorType type = ir::shapeOf(rope.getX());
  int64_t heads = type.getDimSize(1), d = type.getDimSize(2), nDims = rope.getNDims();
  bool neighbours = rope.getMode() == "norm";
  Value frequencies = s.constantArray(ref::ropeFrequencies(ref::ropeParams(rope)));
  Value factors = rope.getFactors() ? s.operand(2) : nullPointer(s);
  Value x = s.operand(0), positions = s.operand(1), y = s.operand(op->getNumOperands());
  Value table = s.scratch();
  s.loop(s.begin(), s.end(), 1, [&](Value t) {
    s.call("vt_rope_table",
           {s.idAddress(positions, t), s.i32(0), s.i32(1), frequencies, factors, s.i32(nDims / 2),
            s.f32(ref::ropeMagnitude(ref::ropeParams(rope))), table});
    s.loop(s.i64(0), s.i64(heads), 1, [&](Value h) {
      Value offset = s.add(s.mul(t, s.i64(heads * d)), s.mul(h, s.i64(d)));
      emitRotation(s, s.at(x, offset), s.at(y, offset), table, nDims, d, neighbours);
    });
  });
}
static ir::Extent ropeScratch(Operation *op) {
  return {uint64_t(cast<ir::RopeOp>(op).getNDims()) * sizeof(float)};
}

/// Norm (if the op has a weight, through `normed`) and rotation of head `h` of token `t`.
template <typename OpT>
static void emitHead(StepBuilder &s, OpT op, Value x, Value w, Value table, Value t, Value normed,
                     Value y) {
  RankedTensorType type = ir::shapeOf(op.getX());
  int64_t d = type.getDimSize(2), nDims = op.getNDims();
  if (w) {
    emitNormRow(s, x, w, normed, d, op.getEps().convertToFloat());
    x = normed;
  }
  emitRotation(s, x, y, s.at(table, s.mul(t, s.i64(nDims))), nDims, d, op.getMode() == "norm");
}

/// Addresses of the operands that both fusions share.
template <typename OpT> struct Operands {
  Value x, w, table;
  Operands(StepBuilder &s, OpT op) {
    unsigned table_ = 2 + bool(op.getW()) + bool(op.getFactors());
    x = s.operand(0);
    w = op.getW() ? s.operand(1) : Value();
    table = s.operand(table_);
  }
};

/// A unit is one head of one token.
static void emitNormRope(StepBuilder &s, Operation *op) {
  auto rope = cast<ir::NormRopeOp>(op);
  int64_t heads = ir::shapeOf(rope.getX()).getDimSize(1),
          d = ir::shapeOf(rope.getX()).getDimSize(2);
  Operands<ir::NormRopeOp> in(s, rope);
  Value y = s.operand(op->getNumOperands()), normed = s.scratch();
  s.loop(s.begin(), s.end(), 1, [&](Value unit) {
    Value offset = s.mul(unit, s.i64(d)), t = s.div(unit, s.i64(heads));
    emitHead(s, rope, s.at(in.x, offset), in.w, in.table, t, normed, s.at(y, offset));
  });
}
static ir::Extent headUnits(Operation *op) { return rowCount(op->getOperand(0)); }
static ir::Extent headScratch(Operation *op) {
  return {uint64_t(ir::shapeOf(op->getOperand(0)).getDimSize(2)) * sizeof(float)};
}

/// A unit is one token: its heads are rotated into scratch, then stored.
static void emitNormRopeStore(StepBuilder &s, Operation *op) {
  auto rope = cast<ir::NormRopeStoreOp>(op);
  int64_t heads = ir::shapeOf(rope.getX()).getDimSize(1),
          d = ir::shapeOf(rope.getX()).getDimSize(2);
  Operands<ir::NormRopeStoreOp> in(s, rope);
  Value rotated = s.scratch(), normed = s.at(rotated, s.i64(heads * d));
  Value state = s.operand(op->getNumOperands() - 2);
  s.loop(s.begin(), s.end(), 1, [&](Value t) {
    s.loop(s.i64(0), s.i64(heads), 1, [&](Value h) {
      Value within = s.mul(h, s.i64(d));
      Value x = s.at(in.x, s.add(s.mul(t, s.i64(heads * d)), within));
      emitHead(s, rope, x, in.w, in.table, t, normed, s.at(rotated, within));
    });
    s.call(storeKernel(rope.getState()),
           {state, s.batch(), s.toI32(t), s.i32(heads), s.i32(d), rotated});
  });
}
static ir::Extent tokenUnits(Operation *op) {
  ir::Extent e = ir::elementCount(op->getOperand(0));
  e.scale = 1;
  return e;
}
static ir::Extent tokenScratch(Operation *op) {
  RankedTensorType x = ir::shapeOf(op->getOperand(0));
  return {uint64_t((x.getDimSize(1) + 1) * x.getDimSize(2)) * sizeof(float)};
}

EmitterTable ropeEmitters() {
  static const std::pair<StringRef, Emitter> table[] = {
      {"vetro.rope_table", {emitTable, tableUnits}},
      {"vetro.rope", {emitRope, tokenUnits, ropeScratch}},
      {"vetro.norm_rope", {emitNormRope, headUnits, headScratch}},
      {"vetro.norm_rope_store", {emitNormRopeStore, tokenUnits, tokenScratch}},
  };
  return table;
}

} // namespace vetro
