// Compiling and walking one function.
#include "runtime/engine/CompiledProgram.h"
#include "compiler/ir/Extents.h"
#include "compiler/ir/Shapes.h"
#include "compiler/lowering/Lower.h"
#include "runtime/jit/Compile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/IR/LLVMContext.h"
#include <cstring>

using namespace mlir;

namespace vetro {

ref::Shape shapeOfBatch(Value value, int64_t nTokens, int64_t nOutputs, int64_t nCells) {
  ref::Shape shape(ir::shapeOf(value).getShape());
  SmallVector<ir::Axis, 2> axes = ir::dynamicAxes(value);
  const ir::Axis *axis = axes.begin();
  for (int64_t &d : shape)
    if (ShapedType::isDynamic(d)) {
      d = *axis == ir::Axis::Tokens ? nTokens : *axis == ir::Axis::Outputs ? nOutputs : nCells;
      ++axis;
    }
  return shape;
}

llvm::Expected<CompiledProgram> CompiledProgram::create(ModuleOp module, StringRef level,
                                                        const ReadWeight &weightBytes) {
  llvm::LLVMContext context;
  auto lowered = lower(module, context);
  if (!lowered)
    return lowered.takeError();
  CompiledProgram program;
  program.planned = std::move(lowered->plan);
  program.returned =
      module.lookupSymbol<func::FuncOp>("forward").front().getTerminator()->getOperand(0);
  auto object = compileObject(std::move(lowered->code), level);
  if (!object)
    return object.takeError();
  auto code = Code::load(std::move(*object));
  if (!code)
    return code.takeError();
  program.code = std::move(*code);
  auto weights = Weights::create(program.planned.weights);
  if (!weights)
    return weights.takeError();
  program.weights = std::move(*weights);
  for (auto [i, weight] : llvm::enumerate(program.planned.weights)) {
    auto bytes = weightBytes(weight);
    if (!bytes)
      return bytes.takeError();
    program.weights.pack(i, bytes->data(), 0, program.weights.units(i));
  }
  return program;
}

const void *CompiledProgram::address(const PlanOperand &operand, ArrayRef<ref::Tensor> inputs,
                                     const KvCache &cache,
                                     std::vector<std::vector<uint8_t>> &buffers) const {
  switch (operand.table) {
  case PlanTable::Weight:
    return weights.address(operand.index);
  case PlanTable::Buffer:
    return buffers[operand.index].data();
  case PlanTable::State:
    return cache.address(operand.index);
  case PlanTable::Input:
    break;
  }
  const ref::Tensor &input = inputs[operand.index];
  return input.ids.empty() ? static_cast<const void *>(input.data.data()) : input.ids.data();
}

/// The numbers that rows kept as `records` int8 records each stand for.
static ref::Tensor readRecords(const uint8_t *from, const ref::Shape &shape, uint32_t records) {
  ref::Tensor t(shape);
  int64_t k = t.dim(-1);
  for (int64_t r = 0; r < t.rows(); ++r)
    for (uint32_t n = 0; n < records; ++n, from += a8Stride(k)) {
      auto *codes = reinterpret_cast<const int8_t *>(from);
      auto *scales = reinterpret_cast<const float *>(from + a8ScalesOffset(k));
      for (int64_t i = 0; i < k; ++i)
        t.row(r)[i] += float(codes[i]) * scales[i / 32];
    }
  return t;
}

llvm::Expected<ref::Tensor> CompiledProgram::run(ArrayRef<ref::Tensor> in, KvCache &cache,
                                                 unsigned pieces) const {
  uint32_t nTokens = in[0].ids.size(), nOutputs = in[4].ids.size(), nCells = in[5].ids.size();
  VtBatch batch = {nTokens,          nOutputs,         in[0].ids.data(), in[1].ids.data(),
                   in[2].ids.data(), in[4].ids.data(), cache.pages(),    cache.maxPages(),
                   nCells,           in[6].ids.data(), in[7].ids.data()};
  std::vector<std::vector<uint8_t>> buffers;
  for (const PlanExtent &e : planned.buffers)
    buffers.emplace_back(e.of(nTokens, nOutputs, nCells), 0xFF);
  for (const PlanStep &step : planned.steps) {
    auto function = code->step(step.function);
    if (!function)
      return function.takeError();
    std::vector<void *> operands;
    for (const PlanOperand &o : step.operands)
      operands.push_back(const_cast<void *>(address(o, in, cache, buffers)));
    uint64_t stride = alignLine(step.scratch.of(nTokens, nOutputs, nCells));
    std::vector<uint8_t> scratch(stride * pieces + 64, 0xFF);
    VtArgs args{operands.data(), &batch, scratch.data(), stride};
    uint64_t units = step.units.of(nTokens, nOutputs, nCells);
    for (unsigned p = 0; p < pieces; ++p)
      if (units * p / pieces < units * (p + 1) / pieces)
        (*function)(&args, uint32_t(units * p / pieces), uint32_t(units * (p + 1) / pieces), p);
  }
  ref::Shape shape = shapeOfBatch(returned, nTokens, nOutputs, nCells);
  const uint8_t *y = buffers[planned.logitsBuffer].data();
  if (uint32_t records = ir::recordsOf(returned))
    return readRecords(y, shape, records);
  ref::Tensor result(shape);
  if (!ir::shapeOf(returned).getElementType().isInteger(32)) {
    std::memcpy(result.data.data(), y, result.data.size() * sizeof(float));
    return result;
  }
  result.ids.resize(result.data.size());
  std::memcpy(result.ids.data(), y, result.ids.size() * sizeof(int32_t));
  result.data.assign(result.ids.begin(), result.ids.end());
  return result;
}

} // namespace vetro
