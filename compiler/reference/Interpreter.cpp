// Walks a function in program order; drops values after their last use.
#include "compiler/reference/Interpreter.h"
#include "compiler/ir/Names.h"
#include "compiler/reference/Bounds.h"
#include "compiler/reference/Ops.h"

using namespace mlir;

namespace vetro::ref {
namespace {

class Walk {
public:
  Walk(const WeightSource &weights, StateStore &state, const InterpreterOptions &options)
      : context{weights, state, options} {}

  void bind(Value value, Bounded v) { values[value] = std::move(v); }
  void bindSymbol(Value value, StringRef symbol) { symbols[value] = symbol; }
  Bounded take(Value value) { return values.lookup(value); }
  /// The op whose inside is walked: it declares the bounds.
  void ofFused(ir::FusedOp op) { fused = op; }
  /// What the last store stored.
  Bounded stored;

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
      operands.push_back({it == values.end() ? nullptr : &it->second.value, symbols.lookup(v)});
    }
    auto results = evaluate(op, operands, context);
    if (!results)
      return results.takeError();
    if (isa<ir::KvStoreOp>(op))
      stored = take(op->getOperand(1));
    const Rounding *rounding = context.options.rounding;
    for (auto [i, tensor] : llvm::enumerate(*results)) {
      if (rounding && rounding->rounds(op))
        for (float &x : tensor.data)
          x = rounding->round(x);
      auto bound = context.options.bounds ? boundOfResult(op, operands, tensor) : Tensor();
      if (!bound)
        return bound.takeError();
      Bounded result{std::move(tensor), std::move(*bound)};
      if (context.options.onResult)
        context.options.onResult(op, i, result);
      if (context.options.onValue && !ir::nameOf(op).empty())
        context.options.onValue(op, i, result.value);
      bind(op->getResult(i), std::move(result));
    }
    release(op);
    return llvm::Error::success();
  }

  llvm::Expected<Tensor> boundOfResult(Operation *op, ArrayRef<Operand> operands,
                                       const Tensor &result) {
    static const Tensor exact;
    SmallVector<const Tensor *> bounds;
    for (Value v : op->getOperands()) {
      auto it = values.find(v);
      bounds.push_back(it == values.end() ? &exact : &it->second.bound);
    }
    auto count = [&](Operation *inner, int64_t length) {
      if (context.options.countRoundings)
        return context.options.countRoundings(inner, length);
      return fused ? fused.countRoundings(inner, length) : ir::kernelRoundings(inner, length);
    };
    return boundOf(op, operands, bounds, result, count, context);
  }

  void release(Operation *op) {
    for (Value v : op->getOperands())
      if (llvm::all_of(v.getUsers(), [&](Operation *user) {
            return user->getBlock() == op->getBlock() && !op->isBeforeInBlock(user);
          }))
        values.erase(v);
  }

  Context context;
  ir::FusedOp fused;
  llvm::DenseMap<Value, Bounded> values;
  llvm::DenseMap<Value, StringRef> symbols;
};

} // namespace

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

llvm::Expected<std::vector<Tensor>> interpret(func::FuncOp func, ArrayRef<Tensor> inputs,
                                              const WeightSource &weights, StateStore &state,
                                              const InterpreterOptions &options) {
  OwningOpRef<func::FuncOp> expanded = func.clone();
  expandFusedOps(*expanded);
  Block &block = expanded->getBody().front();
  Walk walk(weights, state, options);
  for (auto [arg, tensor] : llvm::zip_equal(block.getArguments(), inputs))
    walk.bind(arg, {tensor, {}});
  if (llvm::Error error = walk.run(block))
    return std::move(error);
  std::vector<Tensor> results;
  for (Value v : block.getTerminator()->getOperands())
    results.push_back(walk.take(v).value);
  return results;
}

llvm::Expected<std::vector<Bounded>> interpretOp(Operation *op, ArrayRef<Bounded> operands,
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
    walk.ofFused(fused);
    results = fused.expand(builder, block.getArguments());
  } else {
    IRMapping mapping;
    mapping.map(op->getOperands(), block.getArguments());
    llvm::append_range(results, builder.clone(*op, mapping)->getResults());
  }
  func::ReturnOp::create(builder, op->getLoc(), results);
  llvm::Error error = walk.run(block);
  std::vector<Bounded> out;
  for (Value v : results)
    out.push_back(walk.take(v));
  if (op->getNumResults() == 0)
    out.push_back(std::move(walk.stored));
  if (error)
    return std::move(error);
  return out;
}

} // namespace vetro::ref
