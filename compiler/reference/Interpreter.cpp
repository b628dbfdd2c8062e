// Walks a function in program order; drops values after their last use.
#include "compiler/reference/Interpreter.h"
#include "compiler/ir/Names.h"
#include "compiler/reference/Ops.h"

using namespace mlir;

namespace vetro::ref {
namespace {

class Walk {
public:
  Walk(const WeightSource &weights, StateStore &state, const InterpreterOptions &options)
      : context{weights, state, options} {}

  void bind(Value value, Tensor tensor) { values[value] = std::move(tensor); }
  void bindSymbol(Value value, StringRef symbol) { symbols[value] = symbol; }
  Tensor take(Value value) { return values.lookup(value); }

  llvm::Error run(Block &block) {
    for (Operation &op : block.without_terminator())
      if (llvm::Error error = step(&op))
        return error;
    return llvm::Error::success();
  }

private:
  llvm::Error step(Operation *op) {
    if (auto get = dyn_cast<ir::GetWeightOp>(op))
      return bindSymbol(get.getResult(), get.getWeight()), llvm::Error::success();
    if (auto get = dyn_cast<ir::GetStateOp>(op))
      return bindSymbol(get.getResult(), get.getState()), llvm::Error::success();
    SmallVector<Operand> operands;
    for (Value v : op->getOperands()) {
      auto it = values.find(v);
      operands.push_back({it == values.end() ? nullptr : &it->second, symbols.lookup(v)});
    }
    auto results = evaluate(op, operands, context);
    if (!results)
      return results.takeError();
    for (auto [i, tensor] : llvm::enumerate(*results)) {
      if (context.options.onValue && !ir::nameOf(op).empty())
        context.options.onValue(op, i, tensor);
      bind(op->getResult(i), std::move(tensor));
    }
    release(op);
    return llvm::Error::success();
  }

  void release(Operation *op) {
    for (Value v : op->getOperands())
      if (llvm::all_of(v.getUsers(), [&](Operation *user) {
            return user->getBlock() == op->getBlock() && !op->isBeforeInBlock(user);
          }))
        values.erase(v);
  }

  Context context;
  llvm::DenseMap<Value, Tensor> values;
  llvm::DenseMap<Value, StringRef> symbols;
};

/// Replaces every fused op of the function by its expansion.
void expandFusedOps(func::FuncOp func) {
  SmallVector<ir::FusedOp> fused;
  func.walk([&](ir::FusedOp op) { fused.push_back(op); });
  for (ir::FusedOp op : fused) {
    OpBuilder builder(op);
    SmallVector<Value> values = op.expand(builder, op->getOperands());
    op->replaceAllUsesWith(values);
    op->erase();
  }
}

} // namespace

llvm::Expected<std::vector<Tensor>> interpret(func::FuncOp func, ArrayRef<Tensor> inputs,
                                              const WeightSource &weights, StateStore &state,
                                              const InterpreterOptions &options) {
  OwningOpRef<func::FuncOp> expanded = func.clone();
  expandFusedOps(*expanded);
  Block &block = expanded->getBody().front();
  Walk walk(weights, state, options);
  for (auto [arg, tensor] : llvm::zip_equal(block.getArguments(), inputs))
    walk.bind(arg, tensor);
  if (llvm::Error error = walk.run(block))
    return std::move(error);
  std::vector<Tensor> results;
  for (Value v : block.getTerminator()->getOperands())
    results.push_back(walk.take(v));
  return results;
}

llvm::Expected<std::vector<Tensor>> interpretOp(Operation *op, ArrayRef<Tensor> operands,
                                                const WeightSource &weights, StateStore &state,
                                                const InterpreterOptions &options) {
  Block block;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block);
  for (Value v : op->getOperands())
    block.addArgument(v.getType(), v.getLoc());
  Walk walk(weights, state, options);
  for (auto [arg, v, tensor] : llvm::zip_equal(block.getArguments(), op->getOperands(), operands)) {
    if (auto get = v.getDefiningOp<ir::GetWeightOp>())
      walk.bindSymbol(arg, get.getWeight());
    else if (auto get = v.getDefiningOp<ir::GetStateOp>())
      walk.bindSymbol(arg, get.getState());
    else
      walk.bind(arg, tensor);
  }
  SmallVector<Value> results;
  if (auto fused = dyn_cast<ir::FusedOp>(op)) {
    results = fused.expand(builder, block.getArguments());
  } else {
    IRMapping mapping;
    mapping.map(op->getOperands(), block.getArguments());
    llvm::append_range(results, builder.clone(*op, mapping)->getResults());
  }
  func::ReturnOp::create(builder, op->getLoc(), results);
  llvm::Error error = walk.run(block);
  std::vector<Tensor> out;
  for (Value v : results)
    out.push_back(walk.take(v));
  if (error)
    return std::move(error);
  return out;
}

} // namespace vetro::ref
