// Building blocks of generated kernels.
#include "compiler/lowering/StepBuilder.h"
#include "runtime/abi/Kernel.h"

#include <cstddef>

using namespace mlir;

namespace vetro {

StepBuilder::StepBuilder(ModuleOp module, StringRef name, Location loc)
    : module(module), loc(loc), b(module.getContext()) {
  b.setInsertionPointToEnd(module.getBody());
  Type i32Type = b.getI32Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                          {ptr(), i32Type, i32Type, i32Type});
  func = LLVM::LLVMFuncOp::create(b, loc, name, type);
  b.setInsertionPointToStart(func.addEntryBlock(b));
  operands = LLVM::LoadOp::create(b, loc, ptr(), func.getArgument(0));
  batchPtr = LLVM::LoadOp::create(b, loc, ptr(),
                                  atBytes(func.getArgument(0), i64(offsetof(VtArgs, batch))));
  beginUnit = arith::ExtUIOp::create(b, loc, b.getI64Type(), func.getArgument(1));
  endUnit = arith::ExtUIOp::create(b, loc, b.getI64Type(), func.getArgument(2));
}

void StepBuilder::finish() { LLVM::ReturnOp::create(b, loc, ValueRange()); }

Type StepBuilder::ptr() { return LLVM::LLVMPointerType::get(b.getContext()); }
VectorType StepBuilder::vec(int lanes) { return VectorType::get({lanes}, b.getF32Type()); }

// ---- numbers ----

Value StepBuilder::i64(int64_t v) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(v));
}
Value StepBuilder::i32(int64_t v) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(v));
}
Value StepBuilder::f32(float v) { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(v)); }
Value StepBuilder::add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
Value StepBuilder::mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
Value StepBuilder::sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
Value StepBuilder::div(Value x, Value y) { return arith::DivUIOp::create(b, loc, x, y); }
Value StepBuilder::rem(Value x, Value y) { return arith::RemUIOp::create(b, loc, x, y); }
Value StepBuilder::min(Value x, Value y) { return arith::MinUIOp::create(b, loc, x, y); }
Value StepBuilder::max(Value x, Value y) { return arith::MaxUIOp::create(b, loc, x, y); }
Value StepBuilder::toI32(Value x) { return arith::TruncIOp::create(b, loc, b.getI32Type(), x); }
Value StepBuilder::both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
Value StepBuilder::addF(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
Value StepBuilder::subF(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
Value StepBuilder::mulF(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
Value StepBuilder::divF(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
Value StepBuilder::maxF(Value x, Value y) {
  Value less = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, y, x);
  return arith::SelectOp::create(b, loc, less, x, y);
}
Value StepBuilder::splat(Value scalar, int lanes) {
  return vector::BroadcastOp::create(b, loc, vec(lanes), scalar);
}

// ---- arguments ----

Value StepBuilder::operand(unsigned i) {
  return LLVM::LoadOp::create(b, loc, ptr(), atBytes(operands, i64(i * sizeof(void *))));
}

Value StepBuilder::batch() { return batchPtr; }

Value StepBuilder::batchField(BatchField field) {
  static constexpr size_t offsets[] = {
      offsetof(VtBatch, nTokens),       offsetof(VtBatch, nOutputs),
      offsetof(VtBatch, nCells),        offsetof(VtBatch, maxPages),
      offsetof(VtBatch, tokens),        offsetof(VtBatch, positions),
      offsetof(VtBatch, sequences),     offsetof(VtBatch, outputRows),
      offsetof(VtBatch, pages),         offsetof(VtBatch, cellPositions),
      offsetof(VtBatch, cellSequences),
  };
  Value address = atBytes(batchPtr, i64(offsets[int(field)]));
  if (field > BatchField::MaxPages)
    return LLVM::LoadOp::create(b, loc, ptr(), address);
  Value n = LLVM::LoadOp::create(b, loc, b.getI32Type(), address);
  return arith::ExtUIOp::create(b, loc, b.getI64Type(), n);
}

Value StepBuilder::scratch() {
  Value args = func.getArgument(0);
  Value base = LLVM::LoadOp::create(b, loc, ptr(), atBytes(args, i64(offsetof(VtArgs, scratch))));
  Value stride = LLVM::LoadOp::create(b, loc, b.getI64Type(),
                                      atBytes(args, i64(offsetof(VtArgs, scratchStride))));
  Value thread = arith::ExtUIOp::create(b, loc, b.getI64Type(), func.getArgument(3));
  return atBytes(base, mul(thread, stride));
}

// ---- memory ----

Value StepBuilder::atBytes(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b, loc, ptr(), b.getI8Type(), pointer, bytes);
}
Value StepBuilder::at(Value pointer, Value floats) {
  return LLVM::GEPOp::create(b, loc, ptr(), b.getF32Type(), pointer, floats);
}
Value StepBuilder::idAddress(Value pointer, Value index) {
  return LLVM::GEPOp::create(b, loc, ptr(), b.getI32Type(), pointer, index);
}
Value StepBuilder::loadId(Value pointer, Value index) {
  Value id = LLVM::LoadOp::create(b, loc, b.getI32Type(), idAddress(pointer, index));
  return arith::ExtUIOp::create(b, loc, b.getI64Type(), id);
}
Value StepBuilder::load(Value pointer, Value floats, int lanes) {
  return LLVM::LoadOp::create(b, loc, vec(lanes), at(pointer, floats), /*alignment=*/4);
}
Value StepBuilder::loadScalar(Value pointer, Value floats) {
  return LLVM::LoadOp::create(b, loc, b.getF32Type(), at(pointer, floats), /*alignment=*/4);
}
void StepBuilder::store(Value value, Value pointer, Value floats) {
  LLVM::StoreOp::create(b, loc, value, at(pointer, floats), /*alignment=*/4);
}

// ---- control ----

void StepBuilder::loop(Value low, Value high, int64_t step, llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, low, high, i64(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Value StepBuilder::fold(Value low, Value high, int64_t step, Value initial,
                        llvm::function_ref<Value(Value, Value)> body) {
  auto loop = scf::ForOp::create(b, loc, low, high, i64(step), ValueRange{initial});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), loop.getRegionIterArgs()[0]);
  scf::YieldOp::create(b, loc, next);
  return loop.getResult(0);
}

void StepBuilder::ifLess(Value low, Value high, llvm::function_ref<void()> body) {
  Value less = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, low, high);
  auto branch = scf::IfOp::create(b, loc, less, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

void StepBuilder::vectors(int64_t n, int lanes, llvm::function_ref<void(Value, int)> body) {
  int64_t whole = n / lanes * lanes;
  if (whole > 0)
    loop(i64(0), i64(whole), lanes, [&](Value i) { body(i, lanes); });
  if (whole < n)
    body(i64(whole), int(n - whole));
}

void StepBuilder::vectors(Value n, int lanes, llvm::function_ref<void(Value, int)> body) {
  if (std::optional<int64_t> known = getConstantIntValue(n))
    return vectors(*known, lanes, body);
  Value whole = sub(n, rem(n, i64(lanes)));
  loop(i64(0), whole, lanes, [&](Value i) { body(i, lanes); });
  loop(whole, n, 1, [&](Value i) { body(i, 1); });
}

Value StepBuilder::sum(int64_t n, llvm::function_ref<Value(Value, int)> f) {
  constexpr int lanes = 16;
  int64_t whole = n / lanes * lanes;
  Value acc = splat(0.0f, lanes);
  if (whole > 0) {
    acc = fold(i64(0), i64(whole), lanes, acc,
               [&](Value i, Value sum) { return addF(sum, f(i, lanes)); });
  }
  if (whole < n) {
    Value tail = f(i64(whole), int(n - whole));
    Value padded = vector::InsertStridedSliceOp::create(b, loc, tail, splat(0.0f, lanes),
                                                        ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
    acc = addF(acc, padded);
  }
  for (int half = lanes / 2; half >= 1; half /= 2) {
    auto part = [&](int64_t from) -> Value {
      return vector::ExtractStridedSliceOp::create(b, loc, acc, ArrayRef<int64_t>{from},
                                                   ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
    };
    acc = addF(part(0), part(half));
  }
  return vector::ExtractOp::create(b, loc, acc, ArrayRef<int64_t>{0});
}

void StepBuilder::call(StringRef name, ValueRange args) {
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                            SmallVector<Type>(args.getTypes()));
    callee = LLVM::LLVMFuncOp::create(b, loc, name, type);
  }
  LLVM::CallOp::create(b, loc, callee, args);
}

Value StepBuilder::constantArray(ArrayRef<float> values) {
  auto type = LLVM::LLVMArrayType::get(b.getF32Type(), values.size());
  auto data = DenseElementsAttr::get(
      RankedTensorType::get({int64_t(values.size())}, b.getF32Type()), values);
  LLVM::GlobalOp global;
  for (auto known : module.getOps<LLVM::GlobalOp>())
    if (known.getValueAttr() == data)
      global = known;
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    size_t number = std::distance(module.getOps<LLVM::GlobalOp>().begin(),
                                  module.getOps<LLVM::GlobalOp>().end());
    global = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                    "constant" + std::to_string(number), data, /*alignment=*/64);
  }
  return LLVM::AddressOfOp::create(b, loc, global);
}

} // namespace vetro
