// What lowering takes for granted about a planned module; text given to `vetro opt` may lack it.
#include "compiler/lowering/Emitters.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace vetro {

/// The numbers of `op`'s buffers are there, one a result, each below `count`.
static llvm::Error checkBuffers(Operation *op, int64_t count) {
  auto buffers = op->getAttrOfType<DenseI64ArrayAttr>("vetro.buffers");
  if (!buffers || buffers.size() != op->getNumResults() ||
      llvm::any_of(buffers.asArrayRef(), [&](int64_t n) { return n < 0 || n >= count; }))
    return llvm::createStringError("'%s' (%s) has no buffers for its results; run plan-memory "
                                   "first",
                                   op->getName().getStringRef().str().c_str(),
                                   ir::nameOf(op).str().c_str());
  return llvm::Error::success();
}

/// A state comes from get_state; any other operand from a step, a weight or an input.
static llvm::Error checkOperands(Operation *op) {
  for (Value v : op->getOperands()) {
    Operation *def = ir::storageOf(v).getDefiningOp();
    bool state = isa<ir::StateType>(v.getType());
    if (state ? isa_and_nonnull<ir::GetStateOp>(def)
              : !def || isa<ir::GetWeightOp>(def) || ir::isStep(def))
      continue;
    return llvm::createStringError("'%s' (%s) reads what is no step's result, weight, input or "
                                   "state",
                                   op->getName().getStringRef().str().c_str(),
                                   ir::nameOf(op).str().c_str());
  }
  return llvm::Error::success();
}

/// What a kernel multiplies with is a weight: only weights are repacked into its tiles. The weights
/// of an op stand behind its first operand, one for each kernel.
static llvm::Error checkWeights(Operation *op) {
  auto kernels = op->getAttrOfType<ArrayAttr>("vetro.kernels");
  for (size_t i = 0; kernels && i < kernels.size(); ++i)
    if (i + 1 >= op->getNumOperands() ||
        !ir::storageOf(op->getOperand(i + 1)).getDefiningOp<ir::GetWeightOp>())
      return llvm::createStringError("'%s' (%s) multiplies with what is no weight; declare it as "
                                     "vetro.weight, or use vetro.bmm",
                                     op->getName().getStringRef().str().c_str(),
                                     ir::nameOf(op).str().c_str());
  return llvm::Error::success();
}

llvm::Error checkPlanned(ModuleOp module) {
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  if (!forward || forward.isDeclaration() || !forward.getBody().hasOneBlock())
    return llvm::createStringError("the module has no function @forward of one block");
  auto count = module->getAttrOfType<IntegerAttr>("vetro.num_buffers");
  constexpr int64_t most = 1 << 20;
  if (!count || count.getInt() < 0 || count.getInt() > most)
    return llvm::createStringError("the module has no vetro.num_buffers; run plan-memory first");
  for (Operation &op : forward.front()) {
    if (!ir::isStep(&op))
      continue;
    if (llvm::Error error = checkBuffers(&op, count.getInt()))
      return error;
    if (llvm::Error error = checkOperands(&op))
      return error;
    if (llvm::Error error = checkWeights(&op))
      return error;
  }
  Operation *end = forward.front().getTerminator();
  Operation *last =
      end->getNumOperands() == 1 ? ir::storageOf(end->getOperand(0)).getDefiningOp() : nullptr;
  if (!last || !ir::isStep(last))
    return llvm::createStringError("@forward must return the result of a step: the logits");
  return llvm::Error::success();
}

} // namespace vetro
