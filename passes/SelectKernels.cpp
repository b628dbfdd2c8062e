// Gives each matmul its kernel, each weight its layout, each activation its format.
#include "passes/KernelTable.h"
#include "passes/Passes.h"
#include "passes/Site.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace vetro {
#define GEN_PASS_DEF_SELECTKERNELS
#include "passes/Passes.h.inc"

namespace {

/// The weight operands of an op whose operand 0 is multiplied with them; none for other ops.
SmallVector<Value> weightsOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, SmallVector<Value>>(op)
      .Case([](ir::MatmulOp o) { return SmallVector<Value>{o.getW()}; })
      .Case([](ir::MoeMatmulOp o) { return SmallVector<Value>{o.getW()}; })
      .Case([](ir::MatmulAddOp o) { return SmallVector<Value>{o.getW()}; })
      .Case([](ir::QkvMatmulOp o) { return SmallVector<Value>{o.getWq(), o.getWk(), o.getWv()}; })
      .Case([](ir::GluOp o) { return SmallVector<Value>{o.getGate(), o.getUp()}; })
      .Default([](Operation *) { return SmallVector<Value>(); });
}

struct SelectKernelsPass : impl::SelectKernelsBase<SelectKernelsPass> {
  using SelectKernelsBase::SelectKernelsBase;

  /// Sets the layout on the symbol and on every value that reads it.
  void setLayout(ir::GetWeightOp get, StringRef layout) {
    auto symbol = symbols->lookup<ir::WeightOp>(get.getWeight());
    auto type = cast<RankedTensorType>(symbol.getType());
    symbol.setType(ir::withStorage(type, ir::storageFormat(type), layout));
    for (ir::GetWeightOp reader : gets)
      if (reader.getWeight() == get.getWeight())
        reader.getResult().setType(cast<RankedTensorType>(symbol.getType()));
  }

  static bool wantsRecord(Operation *op, Value x) {
    SmallVector<Value> weights = weightsOf(op);
    return !weights.empty() && op->getOperand(0) == x && llvm::count(op->getOperands(), x) == 1 &&
           activationFor(ir::storageFormat(weights[0])) == "a8";
  }

  /// x as the int8 record: written by its producer where nobody reads it as f32.
  Value recordOf(Value x) {
    if (ir::storageFormat(x) == "a8")
      return x;
    if (Value known = records.lookup(x))
      return known;
    RankedTensorType type = ir::withStorage(ir::shapeOf(x), "a8");
    Operation *producer = x.getDefiningOp();
    bool direct = isa_and_nonnull<ir::RMSNormMulOp, ir::HeadNormOp, ir::GluOp>(producer) &&
                  llvm::all_of(x.getUsers(), [&](Operation *u) { return wantsRecord(u, x); });
    if (direct) {
      x.setType(type);
      return x;
    }
    OpBuilder b(x.getContext());
    b.setInsertionPointAfterValue(x);
    auto quantize = ir::QuantizeOp::create(b, UnknownLoc::get(x.getContext()), type, x);
    return records[x] = quantize;
  }

  LogicalResult select(Operation *op, const Sites &sites) {
    SmallVector<Attribute> kernels;
    Builder b(op->getContext());
    for (Value w : weightsOf(op)) {
      const KernelChoice *choice = kernelFor(ir::storageFormat(w));
      if (!choice)
        return op->emitError("no kernel multiplies with a weight stored as '")
               << ir::storageFormat(w) << "'";
      if (auto get = w.getDefiningOp<ir::GetWeightOp>())
        setLayout(get, choice->layout);
      if (choice->activation == "a8")
        op->setOperand(0, recordOf(op->getOperand(0)));
      kernels.push_back(b.getStringAttr(choice->kernel));
    }
    op->setAttr("vetro.kernels", b.getArrayAttr(kernels));
    sites.fired(op, "kernel " + cast<StringAttr>(kernels[0]).getValue());
    return success();
  }

  void runOnOperation() override {
    Sites sites("select-kernels", disable, explain);
    SymbolTable table(getOperation());
    symbols = &table;
    gets = collect<ir::GetWeightOp>(getOperation());
    records.clear();
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (!weightsOf(op).empty())
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(select(op, sites)))
        return signalPassFailure();
    for (ir::GatherRowsOp gather : collect<ir::GatherRowsOp>(getOperation()))
      if (auto get = gather.getTable().getDefiningOp<ir::GetWeightOp>())
        if (const KernelChoice *choice = kernelFor(ir::storageFormat(get.getResult())))
          setLayout(get, choice->layout);
  }

  SymbolTable *symbols = nullptr;
  SmallVector<ir::GetWeightOp> gets;
  llvm::DenseMap<Value, Value> records;
};
} // namespace
} // namespace vetro
