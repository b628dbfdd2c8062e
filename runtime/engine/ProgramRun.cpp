// Running a program that has its values.
#include "compiler/ir/Shapes.h"
#include "passes/Passes.h"
#include "runtime/abi/Dequantize.h"
#include "runtime/engine/Program.h"
#include "runtime/engine/Proof.h"

using namespace mlir;

namespace vetro {
namespace {

/// Rows of weights out of a file's bytes.
struct WeightBytes : ref::WeightSource {
  WeightBytes(ModuleOp module, const llvm::StringMap<std::vector<uint8_t>> &bytes) {
    for (auto weight : module.getOps<ir::WeightOp>()) {
      auto type = cast<RankedTensorType>(weight.getType());
      items[weight.getSymName()] = {ir::formatOf(type), uint64_t(type.getShape().back()),
                                    bytes.find(weight.getSymName())->second};
    }
  }
  void readRow(StringRef name, int64_t row, float *out) const override {
    const Item &item = items.find(name)->second;
    uint64_t stride = rowBytes(item.format, item.width);
    dequantizeRow(item.format, &item.bytes[row * stride], item.width, out);
  }
  void readMinima(StringRef name, int64_t row, float *out) const override {
    const Item &item = items.find(name)->second;
    uint64_t stride = rowBytes(item.format, item.width);
    std::vector<uint8_t> blocks(&item.bytes[row * stride], &item.bytes[row * stride] + stride);
    for (size_t i = 0; i < blocks.size(); i += formatInfo(item.format).blockBytes)
      keepMinima(item.format, &blocks[i]);
    dequantizeRow(item.format, blocks.data(), item.width, out);
  }
  struct Item {
    Format format;
    uint64_t width;
    ArrayRef<uint8_t> bytes;
  };
  llvm::StringMap<Item> items;
};

/// A state that knows by how much what it holds may differ.
struct BoundedState : FloatState {
  explicit BoundedState(ModuleOp module) : FloatState(module) {}
  void store(StringRef state, int32_t slot, const float *x, int64_t n) override {
    FloatState::store(state, slot, x, n);
    stored.push_back({state.str(), slot});
  }
  void load(StringRef state, int32_t slot, float *out, int64_t n) const override {
    FloatState::load(state, slot, out, n);
    auto it = bounds.find({state.str(), slot});
    auto from = it == bounds.end() ? std::vector<float>(n) : it->second;
    loaded.insert(loaded.end(), from.begin(), from.end());
  }
  /// What the rows stored last, one after the other, may differ by once they are stored.
  void bound(ref::Bounded values, bool half) {
    if (half)
      roundToF16(values);
    int64_t width = values.value.size() / std::max<int64_t>(1, int64_t(stored.size()));
    for (auto [row, key] : llvm::enumerate(stored))
      if (!values.bound.data.empty())
        bounds[key].assign(values.bound.data.begin() + row * width,
                           values.bound.data.begin() + (row + 1) * width);
    stored.clear();
  }
  std::vector<std::pair<std::string, int32_t>> stored;
  std::map<std::pair<std::string, int32_t>, std::vector<float>> bounds;
  mutable std::vector<float> loaded; ///< bounds of the rows read since it was emptied
};

/// The state that an op without results stores to; null: none.
ir::StateType stateOf(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (auto state = dyn_cast<ir::StateType>(type))
      return state;
  return {};
}

} // namespace

llvm::Expected<std::vector<ref::Bounded>> Program::interpret() {
  WeightBytes source(*module, weights);
  BoundedState state(*module);
  ref::InterpreterOptions options;
  options.bounds = true;
  options.onResult = [&](Operation *op, unsigned, ref::Bounded &result) {
    if (isa<ir::KvLoadOp>(op))
      result.bound = ref::Tensor(result.value.shape), result.bound.data = state.loaded;
    state.loaded.clear();
  };
  llvm::DenseMap<Value, ref::Bounded> values;
  for (auto [argument, input] : llvm::zip_equal(function().getArguments(), inputs))
    values[argument].value = input;
  for (Operation &op : function().front().without_terminator()) {
    if (isa<ir::GetWeightOp, ir::GetStateOp>(op))
      continue;
    std::vector<ref::Bounded> operands;
    for (Value v : op.getOperands())
      operands.push_back(values.lookup(v));
    auto results = ref::interpretOp(&op, operands, source, state, options);
    if (!results)
      return results.takeError();
    if (op.getNumResults() == 0)
      state.bound(std::move(results->front()), stateOf(&op).getElement().isF16());
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      values[result] = std::move((*results)[i]);
  }
  std::vector<ref::Bounded> returned;
  for (Value v : function().front().getTerminator()->getOperands())
    returned.push_back(values.lookup(v));
  return returned;
}

llvm::Expected<ref::Tensor> Program::run(StringRef level) {
  if (unsigned n = function().getNumResults(); n != 1)
    return llvm::createStringError("%s: returns %u values; machine code is made for functions of "
                                   "one, the interpreter runs any",
                                   path.c_str(), n);
  OwningOpRef<ModuleOp> planned = module->clone();
  PassManager manager(context.get(), ModuleOp::getOperationName());
  auto stage = (*module)->getAttrOfType<StringAttr>("vetro.stage");
  PipelineOptions pipeline;
  if (stage && stage.getValue() == "planned")
    pipeline.part = PipelinePart::Plan;
  if (llvm::Error error = addPipeline(manager, pipeline))
    return std::move(error);
  std::string message;
  ScopedDiagnosticHandler collect(context.get(), [&](Diagnostic &d) {
    if (d.getSeverity() == DiagnosticSeverity::Error && message.empty())
      message = d.str();
    return success();
  });
  if (failed(manager.run(*planned)))
    return llvm::createStringError(path + ": " + message);
  auto ran = compileAndRun(*planned, level);
  if (!ran)
    return llvm::createStringError(path + ": " + llvm::toString(ran.takeError()));
  return ran;
}

llvm::Expected<ref::Tensor> Program::compileAndRun(ModuleOp planned, StringRef level) {
  auto compiled = CompiledProgram::create(planned, level, [&](const PlanWeight &weight) {
    return llvm::Expected<ArrayRef<uint8_t>>(weights.find(weight.name)->second);
  });
  if (!compiled)
    return compiled.takeError();
  uint32_t nTokens = inputs[0].ids.size();
  auto cache = KvCache::create(compiled->plan().states, std::max(nTokens, 1u), 1);
  if (!cache)
    return cache.takeError();
  for (uint32_t i = 0; i < nTokens; ++i)
    cache->append(0);
  return compiled->run(inputs, *cache);
}

} // namespace vetro
