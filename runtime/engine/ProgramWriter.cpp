// Ops to a program of their own.
#include "runtime/engine/ProgramWriter.h"
#include "compiler/ir/Names.h"
#include "compiler/ir/Shapes.h"
#include "runtime/abi/Plan.h"

using namespace mlir;

namespace vetro {

ProgramWriter::ProgramWriter(ModuleOp graph)
    : graph(graph), module(ModuleOp::create(graph.getLoc())), b(graph.getContext()) {
  b.setInsertionPointToEnd(module->getBody());
  func = func::FuncOp::create(b, b.getUnknownLoc(), "region", b.getFunctionType({}, {}));
  b.setInsertionPointToEnd(func.addEntryBlock());
}

Value ProgramWriter::argument(StringRef name, Type type) {
  unsigned i = func.getNumArguments();
  auto input = b.getNamedAttr("vetro.input", b.getStringAttr(name));
  (void)func.insertArgument(i, type, b.getDictionaryAttr(input), ir::nameLoc(b.getContext(), name));
  return func.getArgument(i);
}

Value ProgramWriter::list(StringRef name) {
  Value &list = lists[name];
  if (!list)
    list = argument(name, RankedTensorType::get({ShapedType::kDynamic}, b.getI32Type()));
  return list;
}

void ProgramWriter::addArgument(Value value, StringRef name) {
  RankedTensorType type = ir::shapeOf(value);
  uint32_t records = ir::recordsOf(value);
  Value made = argument(name, records ? ir::withStorage(type, "") : type);
  if (records)
    made = ir::QuantizeOp::create(b, b.getUnknownLoc(), type, made);
  mapping.map(value, made);
}

Value ProgramWriter::lookup(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (auto arg = dyn_cast<BlockArgument>(value))
    return list(planInputs[arg.getArgNumber()]);
  Operation *def = value.getDefiningOp();
  OpBuilder symbols(func);
  if (auto get = dyn_cast<ir::GetWeightOp>(def)) {
    if (!llvm::is_contained(weightNames, get.getWeight())) {
      ir::WeightOp::create(symbols, b.getUnknownLoc(), get.getWeight(), get.getType());
      weightNames.push_back(get.getWeight().str());
    }
  } else if (auto get = dyn_cast<ir::GetStateOp>(def)) {
    if (!SymbolTable::lookupSymbolIn(*module, get.getState())) {
      symbols.clone(*SymbolTable::lookupSymbolIn(graph, get.getState()));
    }
  }
  return b.clone(*def, mapping)->getResult(0);
}

Operation *ProgramWriter::clone(Operation *op) {
  for (Value v : op->getOperands())
    if (!mapping.contains(v))
      mapping.map(v, lookup(v));
  Operation *made = b.clone(*op, mapping);
  made->removeAttr("vetro.buffers");
  made->removeAttr("vetro.barrier");
  return made;
}

std::string ProgramWriter::finish(Value result, StringRef stage) {
  func::ReturnOp::create(b, b.getUnknownLoc(), result);
  func.setFunctionType(b.getFunctionType(func.getArgumentTypes(), result.getType()));
  (*module)->setAttr("vetro.stage", b.getStringAttr(stage));
  std::string text;
  llvm::raw_string_ostream out(text);
  module->print(out, OpPrintingFlags().enableDebugInfo().printNameLocAsPrefix());
  return text + "\n";
}

} // namespace vetro
