// Steps that write and read the KV cache.
#include "compiler/lowering/Emitters.h"
#include "runtime/abi/Kernel.h"

#include <bit>

using namespace mlir;

namespace vetro {

static StringRef elementName(ir::StateType type) {
  return type.getElement().isF16() ? "f16" : "f32";
}

StringRef stateKind(Value state) {
  auto get = state.getDefiningOp<ir::GetStateOp>();
  auto symbol = SymbolTable::lookupNearestSymbolFrom<ir::StateOp>(get, get.getStateAttr());
  return symbol.getKind();
}

std::string storeKernel(Value state) {
  auto type = cast<ir::StateType>(state.getType());
  return ("vt_kv_store_" + stateKind(state) + "_" + elementName(type)).str();
}

/// Rows of v along its first axis, `each` units of every row.
static ir::Extent unitsOf(Value v, uint64_t each = 1) {
  ir::Extent e = ir::elementCount(v);
  e.scale = each;
  return e;
}

/// A unit is one token.
static void emitStore(StepBuilder &s, Operation *op) {
  auto store = cast<ir::KvStoreOp>(op);
  RankedTensorType x = ir::shapeOf(store.getX());
  int64_t heads = x.getDimSize(1), d = x.getDimSize(2);
  Value state = s.operand(0), xAt = s.operand(1);
  s.loop(s.begin(), s.end(), 1, [&](Value t) {
    s.call(storeKernel(store.getState()), {state, s.batch(), s.toI32(t), s.i32(heads), s.i32(d),
                                           s.at(xAt, s.mul(t, s.i64(heads * d)))});
  });
}
static ir::Extent storeUnits(Operation *op) { return unitsOf(op->getOperand(1)); }

/// A unit is one cell. `cells` names slots; where a slot lies, its sequence and position say.
static void emitLoad(StepBuilder &s, Operation *op) {
  auto load = cast<ir::KvLoadOp>(op);
  auto state = cast<ir::StateType>(load.getState().getType());
  std::string kernel =
      ("vt_kv_load_" + stateKind(load.getState()) + "_" + elementName(state)).str();
  Value stateAt = s.operand(0), y = s.operand(2), pages = s.batchField(BatchField::Pages);
  Value maxPages = s.batchField(BatchField::MaxPages);
  Value positions = s.batchField(BatchField::CellPositions);
  Value sequences = s.batchField(BatchField::CellSequences);
  s.loop(s.begin(), s.end(), 1, [&](Value c) {
    Value ofSequence = s.idAddress(pages, s.mul(s.loadId(sequences, c), maxPages));
    s.call(kernel, {stateAt, ofSequence, s.toI32(s.loadId(positions, c)), s.i32(state.getHeads()),
                    s.i32(state.getHeadDim()),
                    s.at(y, s.mul(c, s.i64(state.getHeads() * state.getHeadDim())))});
  });
}
static ir::Extent loadUnits(Operation *op) { return unitsOf(op->getResult(0)); }

/// A unit is one KV head of one token.
static void emitAttention(StepBuilder &s, Operation *op) {
  auto attention = cast<ir::AttentionOp>(op);
  auto state = cast<ir::StateType>(attention.getKState().getType());
  RankedTensorType q = ir::shapeOf(attention.getQ());
  // VtAttention, word by word.
  Value params = s.constantArray({std::bit_cast<float>(uint32_t(q.getDimSize(1))),
                                  std::bit_cast<float>(uint32_t(state.getHeads())),
                                  std::bit_cast<float>(uint32_t(state.getHeadDim())),
                                  std::bit_cast<float>(uint32_t(attention.getWindow())),
                                  attention.getScale().convertToFloat(),
                                  attention.getSoftcap().convertToFloat()});
  s.call(("vt_attention_" + elementName(state)).str(),
         {s.operand(0), s.operand(1), s.operand(2), s.batch(), params, s.toI32(s.begin()),
          s.toI32(s.end()), s.operand(op->getNumOperands())});
}
static ir::Extent attentionUnits(Operation *op) {
  return unitsOf(op->getOperand(0), cast<ir::StateType>(op->getOperand(1).getType()).getHeads());
}

EmitterTable cacheEmitters() {
  static const std::pair<StringRef, Emitter> table[] = {
      {"vetro.kv_store", {emitStore, storeUnits}},
      {"vetro.kv_load", {emitLoad, loadUnits}},
      {"vetro.attention", {emitAttention, attentionUnits}},
  };
  return table;
}

} // namespace vetro
