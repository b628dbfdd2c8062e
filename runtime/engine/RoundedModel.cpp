// Rounding like PyTorch.
#include "runtime/engine/RoundedModel.h"
#include "compiler/ir/Names.h"
#include "compiler/ir/Shapes.h"
#include "runtime/abi/Float.h"
#include "runtime/engine/Compile.h"

using namespace mlir;

namespace vetro {

static constexpr struct {
  llvm::StringLiteral name;
  float (*number)(float);
} types[] = {{"bf16", [](float x) { return bf16ToFloat(floatToBf16(x)); }},
             {"f16", [](float x) { return f16ToFloat(floatToF16(x)); }}};

std::vector<StringRef> roundingTypes() {
  std::vector<StringRef> names;
  for (const auto &type : types)
    names.push_back(type.name);
  return names;
}

/// Whether a value's name is one of these, "*" for the layer's number.
static bool isOneOf(ArrayRef<llvm::StringLiteral> names, StringRef name) {
  return llvm::any_of(names, [&](StringRef known) {
    auto [before, after] = known.split('*');
    StringRef rest = name;
    if (!known.contains('*'))
      return name == known;
    return rest.consume_front(before) && rest.consume_back(after) &&
           llvm::all_of(rest, llvm::isDigit);
  });
}

llvm::Expected<std::unique_ptr<RoundedModel>>
RoundedModel::create(StringRef type, Graph &graph, const Architecture &architecture,
                     const ref::WeightSource &weights) {
  auto found = llvm::find_if(types, [&](const auto &t) { return t.name == type; });
  if (found == std::end(types))
    return llvm::createStringError("round: found '%s', expected bf16 or f16", type.str().c_str());
  std::unique_ptr<RoundedModel> model(new RoundedModel(weights, found->number));
  model->read(graph, architecture.rounding);
  return model;
}

void RoundedModel::read(Graph &graph, const ModelRounding &rules) {
  once.assign(rules.once.begin(), rules.once.end());
  for (Operation &op : graph.forward().front()) {
    if (auto get = dyn_cast<ir::GetWeightOp>(op))
      source.widths[get.getWeight()] = ir::shapeOf(get.getResult()).getShape().back();
    if (auto scale = dyn_cast<ir::ScaleOp>(op);
        scale && isOneOf(rules.roundedFactor, ir::nameOf(&op)))
      scale.setS(llvm::APFloat(number(scale.getS().convertToFloat())));
    if (isOneOf(once, ir::nameOf(&op)))
      for (Value v : op.getOperands())
        if (auto get = v.getDefiningOp<ir::GetWeightOp>())
          source.offsets[get.getWeight()] = rules.weightOffset;
  }
}

void RoundedModel::Source::readRow(StringRef name, int64_t row, float *out) const {
  exact.readRow(name, row, out);
  float offset = offsets.lookup(name);
  for (int64_t i = 0, n = widths.lookup(name); i < n; ++i)
    out[i] = number(out[i] - offset) + offset;
}

/// A product that gets its bias: one function in PyTorch.
static bool isBiased(Operation *product, Operation *user) {
  return isa<ir::MatmulOp>(product) && isa<ir::AddOp>(user) &&
         user->getOperand(1).getDefiningOp<ir::GetWeightOp>();
}

bool RoundedModel::rounds(Operation *op) const {
  if (!ir::nameOf(op).empty() || op->getNumResults() != 1)
    return true;
  // An unnamed op belongs to the value that it is made for.
  return llvm::none_of(op->getResult(0).getUsers(), [&](Operation *user) {
    return isOneOf(once, ir::nameOf(user)) || isBiased(op, user);
  });
}

} // namespace vetro
