// Walks the planned graph: equal steps share one function, every step gets a line of the plan.
#include "compiler/lowering/Lower.h"
#include "compiler/lowering/Emitters.h"
#include "compiler/lowering/ToLLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace vetro {

const Emitter *emitterFor(Operation *op) {
  for (EmitterTable table :
       {normEmitters(), matmulEmitters(), ropeEmitters(), cacheEmitters(), elementwiseEmitters(),
        attentionEmitters(), shapeEmitters(), moeEmitters()})
    for (const auto &[name, emitter] : table)
      if (op->getName().getStringRef() == name)
        return &emitter;
  return nullptr;
}

namespace {

PlanExtent toPlan(const ir::Extent &e) { return {e.scale, e.tokens, e.outputs, e.cells}; }

class Lowering {
public:
  explicit Lowering(ModuleOp graph) : graph(graph), code(ModuleOp::create(graph.getLoc())) {}

  llvm::Error run();
  ModuleOp codeModule() { return *code; }
  /// Dialects that the step functions are written in.
  static void load(MLIRContext *context) {
    context->loadDialect<LLVM::LLVMDialect, arith::ArithDialect, scf::SCFDialect,
                         vector::VectorDialect, math::MathDialect>();
  }
  Plan plan;

private:
  void addSymbols();
  llvm::Error addStep(Operation *op);
  std::string functionFor(Operation *op, const Emitter &emitter);
  PlanOperand operandFor(Value v);
  void addValues(Operation *op);
  void addValue(StringRef name, Value v, uint32_t step, uint32_t operand);
  void growBuffer(Value v);

  ModuleOp graph;
  OwningOpRef<ModuleOp> code;
  llvm::StringMap<uint32_t> weights, states;
  llvm::StringMap<std::string> functions; ///< step's key -> symbol
};

/// What makes two steps equal: op, attributes that matter, types, kinds of state.
std::string keyOf(Operation *op) {
  std::string key;
  llvm::raw_string_ostream out(key);
  out << op->getName();
  for (NamedAttribute attr : op->getAttrs())
    if (attr.getName() != "names" && !attr.getName().strref().starts_with("vetro."))
      out << " " << attr.getName().strref() << "=" << attr.getValue();
  for (Value v : op->getOperands()) {
    out << " " << v.getType();
    if (isa<ir::StateType>(v.getType()))
      out << stateKind(v);
    for (ir::Axis axis : ir::dynamicAxes(v))
      out << "," << int(axis);
  }
  for (Value v : op->getResults())
    out << " -> " << v.getType();
  return key;
}

void Lowering::addSymbols() {
  for (auto weight : graph.getOps<ir::WeightOp>()) {
    auto type = cast<RankedTensorType>(weight.getType());
    StringRef layout;
    if (auto q = dyn_cast_or_null<ir::StorageAttr>(type.getEncoding()))
      layout = q.getLayout();
    uint64_t width = type.getShape().back();
    weights[weight.getSymName()] = plan.weights.size();
    plan.weights.push_back({weight.getSymName().str(), ir::formatOf(type), layout.str(),
                            type.getNumElements() / width, width});
  }
  for (auto state : graph.getOps<ir::StateOp>()) {
    auto type = cast<ir::StateType>(state.getType());
    states[state.getSymName()] = plan.states.size();
    plan.states.push_back({state.getSymName().str(), state.getKind().str(),
                           type.getElement().isF16() ? "f16" : "f32", uint32_t(type.getHeads()),
                           uint32_t(type.getHeadDim())});
  }
}

PlanOperand Lowering::operandFor(Value v) {
  v = ir::storageOf(v);
  if (auto arg = dyn_cast<BlockArgument>(v))
    return {PlanTable::Input, arg.getArgNumber()};
  Operation *def = v.getDefiningOp();
  if (auto get = dyn_cast<ir::GetWeightOp>(def))
    return {PlanTable::Weight, weights.lookup(get.getWeight())};
  if (auto get = dyn_cast<ir::GetStateOp>(def))
    return {PlanTable::State, states.lookup(get.getState())};
  auto buffers = def->getAttrOfType<DenseI64ArrayAttr>("vetro.buffers");
  return {PlanTable::Buffer, uint32_t(buffers[cast<OpResult>(v).getResultNumber()])};
}

std::string Lowering::functionFor(Operation *op, const Emitter &emitter) {
  std::string &name = functions[keyOf(op)];
  if (!name.empty())
    return name;
  StringRef opName = op->getName().stripDialect();
  name = "vt_step_" + std::to_string(functions.size() - 1) + "_" + opName.str();
  StepBuilder s(*code, name, op->getLoc());
  emitter.emit(s, op);
  s.finish();
  return name;
}

void Lowering::growBuffer(Value v) {
  PlanExtent need = toPlan(ir::byteCount(v));
  PlanExtent &buffer = plan.buffers[operandFor(v).index];
  uint64_t scale = std::max(buffer.scale, need.scale);
  buffer = need;
  buffer.scale = scale;
}

void Lowering::addValue(StringRef name, Value v, uint32_t step, uint32_t operand) {
  PlanExtent rows = toPlan(rowCount(v));
  int64_t last = ir::shapeOf(v).getShape().back();
  plan.values.push_back({name.str(), step, operand, rows,
                         ShapedType::isDynamic(last) ? 0 : uint64_t(last),
                         ir::storageFormat(v).str()});
}

/// The names of the op's results: its own, and for several results its inner names.
void Lowering::addValues(Operation *op) {
  uint32_t step = plan.steps.size() - 1, first = op->getNumOperands();
  if (op->getNumResults() == 1 && !ir::nameOf(op).empty())
    addValue(ir::nameOf(op), op->getResult(0), step, first);
  if (auto fused = dyn_cast<ir::FusedOp>(op); fused && op->getNumResults() > 1)
    for (auto [i, name] : llvm::enumerate(fused.getInnerNames()))
      addValue(cast<StringAttr>(name).getValue(), op->getResult(i), step, first + i);
}

llvm::Error Lowering::addStep(Operation *op) {
  const Emitter *emitter = emitterFor(op);
  if (!emitter)
    return llvm::createStringError("'%s' (%s) cannot run alone; leave on the pass that fuses it",
                                   op->getName().getStringRef().str().c_str(),
                                   ir::nameOf(op).str().c_str());
  PlanStep step;
  step.name = ir::nameOf(op).str();
  step.op = op->getName().stripDialect().str();
  step.function = functionFor(op, *emitter);
  for (Value v : op->getOperands())
    step.operands.push_back(operandFor(v));
  for (Value v : op->getResults()) {
    step.operands.push_back(operandFor(v));
    growBuffer(v);
  }
  step.units = toPlan(emitter->units(op));
  if (emitter->scratch)
    step.scratch = toPlan(emitter->scratch(op));
  step.barrier = op->hasAttr("vetro.barrier");
  plan.steps.push_back(std::move(step));
  addValues(op);
  return llvm::Error::success();
}

llvm::Error Lowering::run() {
  if (llvm::Error error = checkPlanned(graph))
    return error;
  addSymbols();
  plan.buffers.resize(graph->getAttrOfType<IntegerAttr>("vetro.num_buffers").getInt());
  auto forward = graph.lookupSymbol<func::FuncOp>("forward");
  for (Operation &op : forward.front())
    if (ir::isStep(&op))
      if (llvm::Error error = addStep(&op))
        return error;
  Value logits = forward.front().getTerminator()->getOperand(0);
  plan.logitsBuffer = operandFor(logits).index;
  plan.nVocab = ir::shapeOf(logits).getShape().back();
  return llvm::Error::success();
}

} // namespace

llvm::Expected<Lowered> lower(ModuleOp module, llvm::LLVMContext &context,
                              const LowerOptions &options) {
  Lowering::load(module.getContext());
  Lowering lowering(module);
  if (llvm::Error error = lowering.run())
    return std::move(error);
  Lowered result;
  if (options.keepText) {
    llvm::raw_string_ostream out(result.text);
    lowering.codeModule().print(out);
  }
  auto code = toLLVM(lowering.codeModule(), context);
  if (!code)
    return code.takeError();
  result.code = std::move(*code);
  result.plan = std::move(lowering.plan);
  return result;
}

namespace {
struct EmitSteps : PassWrapper<EmitSteps, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmitSteps)
  StringRef getArgument() const override { return "vetro-emit-steps"; }
  StringRef getDescription() const override { return "the step functions of a planned module"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, arith::ArithDialect, scf::SCFDialect, vector::VectorDialect,
                    math::MathDialect>();
  }
  void runOnOperation() override {
    Lowering lowering(getOperation());
    if (llvm::Error error = lowering.run()) {
      getOperation().emitError(llvm::toString(std::move(error)));
      return signalPassFailure();
    }
    Block *body = getOperation().getBody();
    while (!body->empty())
      body->back().erase(); // users stand after what they use
    body->getOperations().splice(body->end(), lowering.codeModule().getBody()->getOperations());
  }
};
} // namespace

void registerLoweringPasses() { PassRegistration<EmitSteps>(); }

} // namespace vetro
