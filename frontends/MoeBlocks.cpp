// The building block of mixtures of experts.
// Source: Jiang et al. 2024, "Mixtral of Experts", section 2.1.
#include "compiler/ir/Shapes.h"
#include "frontends/Blocks.h"

#include <limits>

using namespace mlir;

namespace vetro {

static constexpr int64_t dyn = ShapedType::kDynamic;

/// The sum of the chosen weights is at least this before they are divided by it, so that a router
/// that is sure of experts that are not chosen cannot divide by zero.
static constexpr float minWeightSum = 0x1p-14f;

Value Blocks::reduce(Value x, int64_t axis, bool keep, const Twine &name) {
  SmallVector<int64_t> shape(ir::shapeOf(x).getShape());
  shape[axis] = 1;
  if (!keep)
    shape.erase(shape.begin() + axis);
  return ir::ReduceOp::create(b, loc(name), tensor(shape), x, "sum", axis);
}

std::pair<Value, Value> Blocks::route(Value x, int layer, const ExpertSpec &spec) {
  auto name = [&](StringRef suffix) { return layerName(layer, suffix); };
  auto perExpert = tensor({dyn, spec.nExpert}), perChosen = tensor({dyn, spec.nUsed});
  auto idsType = RankedTensorType::get({dyn, spec.nUsed}, b.getI32Type());
  Value scores = linear(x, name("ffn_gate_inp"), spec.nExpert, name("ffn_moe_logits"));
  Value probs = ir::SoftmaxOp::create(b, loc(name("ffn_moe_probs")), perExpert, scores,
                                      /*mask=*/Value());
  Value chosen = ir::TopKOp::create(b, loc(name("ffn_moe_topk")), idsType, probs, spec.nUsed);
  Value w = ir::TakeAlongOp::create(b, loc(name("ffn_moe_weights")), perChosen, probs, chosen);
  Value sum = reduce(w, 1, /*keep=*/true, "");
  Value safe = ir::ClampOp::create(b, loc(""), sum.getType(), sum, llvm::APFloat(minWeightSum),
                                   llvm::APFloat(std::numeric_limits<float>::max()));
  w = ir::DivOp::create(b, loc(name("ffn_moe_weights_norm")), perChosen, w, safe);
  return {chosen, ir::ReshapeOp::create(b, loc(""), tensor({dyn, spec.nUsed, 1}), w)};
}

Value Blocks::experts(Value x, Value chosen, int layer, StringRef weightName,
                      const ExpertSpec &spec, int64_t n, StringRef name) {
  int64_t k = ir::shapeOf(x).getDimSize(2);
  Value w = weight(layerName(layer, weightName + ".weight"), {spec.nExpert, n, k});
  return ir::MoeMatmulOp::create(b, loc(layerName(layer, name)), tensor({dyn, spec.nUsed, n}), x, w,
                                 chosen);
}

Value Blocks::expertFfn(Value x, int layer, const ExpertSpec &spec, int64_t nFf,
                        StringRef activation, Where where) {
  At at(*this, where);
  int64_t nEmbd = ir::shapeOf(x).getDimSize(1);
  auto [chosen, w] = route(x, layer, spec);
  Value rows = ir::ReshapeOp::create(b, loc(""), tensor({dyn, 1, nEmbd}), x);
  Value gate = experts(rows, chosen, layer, "ffn_gate_exps", spec, nFf, "ffn_moe_gate");
  Value up = experts(rows, chosen, layer, "ffn_up_exps", spec, nFf, "ffn_moe_up");
  Value act = ir::UnaryOp::create(b, loc(""), gate.getType(), gate, activation);
  Value product =
      ir::MulOp::create(b, loc(layerName(layer, "ffn_moe_act")), gate.getType(), act, up);
  Value down = experts(product, chosen, layer, "ffn_down_exps", spec, nEmbd, "ffn_moe_down");
  Value weighted =
      ir::MulOp::create(b, loc(layerName(layer, "ffn_moe_weighted")), down.getType(), down, w);
  return reduce(weighted, 1, /*keep=*/false, layerName(layer, "ffn_out"));
}

} // namespace vetro
