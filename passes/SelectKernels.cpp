// Gives each matmul its kernel, each weight its layout, each activation its format.
#include "passes/KernelTable.h"
#include "passes/Passes.h"
#include "passes/Site.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Regex.h"

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

/// Which of the table's choices an op takes: what the user asks for, else what the table's rules
/// say, else the cheapest.
class Chooser {
public:
  Chooser(const Sites &sites) : sites(sites) {}

  /// Adds "REGEX=FORMAT". Error: what is wrong with it.
  llvm::Error add(StringRef item) {
    auto [regex, activation] = item.rsplit('=');
    std::string why;
    bool known = llvm::any_of(activationTable,
                              [&](const ActivationFormat &f) { return activation == f.name; });
    if (regex.empty() || !known || !llvm::Regex(regex).isValid(why))
      return llvm::createStringError(
          "activation '%s': expected REGEX=FORMAT, FORMAT one of f32, a8, a8x2%s%s",
          item.str().c_str(), why.empty() ? "" : "; the expression is wrong: ", why.c_str());
    asked.push_back({regex, activation, "it is asked for"});
    return llvm::Error::success();
  }

  /// The rule that decides at an op, or null. A rule says nothing where no kernel reads its format.
  const ActivationRule *ruleFor(Operation *op) const {
    auto decides = [&](const ActivationRule &rule) {
      return llvm::Regex(rule.name).match(ir::nameOf(op)) && choice(op, rule.activation);
    };
    for (const ActivationRule &rule : asked)
      if (decides(rule))
        return &rule;
    for (const ActivationRule &rule : activationRules())
      if (decides(rule) && sites.enabled(op))
        return &rule;
    return nullptr;
  }

  /// The activation format of an op that multiplies; empty where no kernel reads its weight.
  StringRef activationOf(Operation *op) const {
    if (const ActivationRule *rule = ruleFor(op))
      return rule->activation;
    ArrayRef<KernelChoice> choices = kernelsFor(ir::storageFormat(weightsOf(op)[0]));
    return choices.empty() ? "" : choices[0].activation;
  }

  /// Why the op's other choices were not taken.
  std::string rejected(Operation *op) const {
    std::string text;
    const ActivationRule *rule = ruleFor(op);
    StringRef taken = activationOf(op);
    for (const KernelChoice &other : kernelsFor(ir::storageFormat(weightsOf(op)[0])))
      if (other.activation != taken)
        text +=
            ("; not on " + other.activation + ": " + (rule ? rule->why : "it costs more")).str();
    return text;
  }

  /// The rules that were asked for and decide at none of these ops.
  SmallVector<StringRef> idle(ArrayRef<Operation *> ops) const {
    SmallVector<StringRef> names;
    for (const ActivationRule &rule : asked)
      if (llvm::none_of(ops, [&](Operation *op) { return ruleFor(op) == &rule; }))
        names.push_back(rule.name);
    return names;
  }

  /// The table's choice for weight w (null: the op's first weight) with this activation, or null.
  static const KernelChoice *choice(Operation *op, StringRef activation, Value w = {}) {
    for (const KernelChoice &c : kernelsFor(ir::storageFormat(w ? w : weightsOf(op)[0])))
      if (c.activation == activation)
        return &c;
    return nullptr;
  }

private:
  const Sites &sites;
  std::vector<ActivationRule> asked;
};

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

  /// Whether op multiplies x, which nothing else of it reads, in this format.
  bool reads(Operation *op, Value x, StringRef activation) const {
    return !weightsOf(op).empty() && op->getOperand(0) == x &&
           llvm::count(op->getOperands(), x) == 1 && chooser->activationOf(op) == activation;
  }

  /// x as int8 records: written by its producer where nobody reads it in another format and the
  /// pass is on at its name, else by a step of their own.
  Value recordsOf(Value x, StringRef activation) {
    if (ir::storageFormat(x) == activation)
      return x;
    if (Value known = records.lookup({x, activation}))
      return known;
    RankedTensorType type = ir::withStorage(ir::shapeOf(x), activation);
    Operation *producer = x.getDefiningOp();
    bool direct = isa_and_nonnull<ir::RMSNormMulOp, ir::HeadNormOp, ir::GluOp>(producer) &&
                  quiet->enabled(producer) &&
                  llvm::all_of(x.getUsers(), [&](Operation *u) { return reads(u, x, activation); });
    if (direct) {
      x.setType(type);
      return x;
    }
    OpBuilder b(x.getContext());
    b.setInsertionPointAfterValue(x);
    auto quantize = ir::QuantizeOp::create(b, UnknownLoc::get(x.getContext()), type, x);
    return records[{x, activation}] = quantize;
  }

  LogicalResult select(Operation *op, const Sites &sites) {
    SmallVector<Attribute> kernels;
    Builder b(op->getContext());
    StringRef activation = chooser->activationOf(op);
    for (Value w : weightsOf(op)) {
      const KernelChoice *choice = Chooser::choice(op, activation, w);
      if (!choice)
        return op->emitError("no kernel multiplies with a weight stored as '")
               << ir::storageFormat(w) << "'";
      if (auto get = w.getDefiningOp<ir::GetWeightOp>())
        setLayout(get, choice->layout);
      kernels.push_back(b.getStringAttr(choice->kernel));
    }
    if (ir::recordsOf(activation))
      op->setOperand(0, recordsOf(op->getOperand(0), activation));
    op->setAttr("vetro.kernels", b.getArrayAttr(kernels));
    sites.fired(op, "kernel " + cast<StringAttr>(kernels[0]).getValue() + " on " + activation +
                        chooser->rejected(op));
    return success();
  }

  LogicalResult selectAll(ArrayRef<Operation *> ops, const Sites &sites) {
    for (StringRef item : activations)
      if (llvm::Error error = chooser->add(item))
        return getOperation().emitError(llvm::toString(std::move(error)));
    for (StringRef name : chooser->idle(ops))
      return getOperation().emitError("activation '")
             << name
             << "': no quantised matmul has a name that this finds (or an earlier one does)";
    for (Operation *op : ops)
      if (failed(select(op, sites)))
        return failure();
    return success();
  }

  void runOnOperation() override {
    Sites sites("select-kernels", disable, explain), silent("select-kernels", disable, false);
    Chooser choices(silent);
    quiet = &silent;
    chooser = &choices;
    SymbolTable table(getOperation());
    symbols = &table;
    gets = collect<ir::GetWeightOp>(getOperation());
    records.clear();
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (!weightsOf(op).empty())
        ops.push_back(op);
    });
    if (failed(selectAll(ops, sites)))
      return signalPassFailure();
    for (ir::GatherRowsOp gather : collect<ir::GatherRowsOp>(getOperation()))
      if (auto get = gather.getTable().getDefiningOp<ir::GetWeightOp>())
        if (auto known = kernelsFor(ir::storageFormat(get.getResult())); !known.empty())
          setLayout(get, known[0].layout);
  }

  Chooser *chooser = nullptr;
  const Sites *quiet = nullptr; ///< asks whether a site is on, without a remark
  SymbolTable *symbols = nullptr;
  SmallVector<ir::GetWeightOp> gets;
  llvm::DenseMap<std::pair<Value, StringRef>, Value> records;
};
} // namespace
} // namespace vetro
