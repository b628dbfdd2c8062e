// The blocks that architectures share.
#include "frontends/Blocks.h"
#include "compiler/ir/Shapes.h"

using namespace mlir;

namespace vetro {

static constexpr int64_t dyn = ShapedType::kDynamic;

/// Names of the graph's inputs, in order; the runtime fills them by these names.
static constexpr llvm::StringLiteral inputNames[] = {"tokens",         "positions",     "sequences",
                                                     "slots",          "outputs",       "cells",
                                                     "cell_positions", "cell_sequences"};

Blocks::Blocks(ModuleOp module, Metadata &metadata, const GraphOptions &options)
    : module(module), meta(metadata), b(module.getContext()), nCtx(options.nCtx),
      missing(options.missing), symbols(module) {
  kvElement = options.kvType == "f32" ? Type(b.getF32Type()) : Type(b.getF16Type());
  auto ids = RankedTensorType::get({dyn}, b.getI32Type());
  SmallVector<Type> inputs(std::size(inputNames), ids);
  b.setInsertionPointToEnd(module.getBody());
  func = func::FuncOp::create(b, loc("forward"), "forward", b.getFunctionType(inputs, {}));
  Block *entry = func.addEntryBlock();
  for (auto [i, name] : llvm::enumerate(inputNames)) {
    func.setArgAttr(i, "vetro.input", b.getStringAttr(name));
    func.getArgument(i).setLoc(loc(name));
  }
  b.setInsertionPointToEnd(entry);
}

void Blocks::fail(const Twine &message) {
  if (error.empty())
    error = message.str();
}

llvm::Error Blocks::takeError() {
  if (llvm::Error e = meta.takeError())
    return e;
  if (error.empty())
    return llvm::Error::success();
  return llvm::createStringError(std::exchange(error, ""));
}

std::string Blocks::layerName(int layer, const Twine &suffix) {
  return ("blk." + Twine(layer) + "." + suffix).str();
}

Location Blocks::loc(const Twine &name) {
  std::optional<Location> source;
  if (place) {
    source = ir::sourceLoc(b.getContext(), *place);
  }
  return ir::nameLoc(b.getContext(), name.str(), source);
}

RankedTensorType Blocks::tensor(ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, b.getF32Type());
}

// ---- weights ----

bool Blocks::hasWeight(StringRef name) const {
  return symbols.lookup<ir::WeightOp>(name) != nullptr;
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (int64_t d : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(d);
  return text + "]";
}

/// What to do about a tensor that is not as the metadata says.
static constexpr llvm::StringLiteral tensorHint =
    "; get or convert the file again, or correct the metadata with --override-kv";

std::pair<int64_t, int64_t> Blocks::sizeOf(StringRef name) {
  auto weight = symbols.lookup<ir::WeightOp>(name);
  ArrayRef<int64_t> shape =
      weight ? cast<RankedTensorType>(weight.getType()).getShape() : ArrayRef<int64_t>();
  while (shape.size() > 2 && shape.front() == 1)
    shape = shape.drop_front();
  if (shape.size() == 2)
    return {shape[0], shape[1]};
  fail("tensor '" + name + "' " + (weight ? "has shape " + shapeText(shape) : "is missing") +
       "; expected a matrix" + tensorHint);
  return {0, 0};
}

/// Whether a weight may be kept in this format: numbers that the kernels or the loader turn to f32.
static bool isUsable(StringRef format) {
  return !llvm::is_contained({"i8", "i16", "i32", "i64", "f64"}, format);
}

/// The shape without axes of length 1 at the front: [1, 4, 8] and [4, 8] hold the same rows.
static ArrayRef<int64_t> significant(ArrayRef<int64_t> shape) {
  return shape.drop_while([](int64_t d) { return d == 1; });
}

ir::WeightOp Blocks::declare(StringRef name, ArrayRef<int64_t> shape) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(func);
  auto weight = ir::WeightOp::create(b, b.getUnknownLoc(), name, tensor(shape));
  symbols.insert(weight);
  return weight;
}

Value Blocks::weight(StringRef name, ArrayRef<int64_t> shape) {
  if (Value known = weights.lookup(name))
    return known;
  auto weight = symbols.lookup<ir::WeightOp>(name);
  if (!weight && missing != MissingWeights::Fail)
    weight = declare(name, shape);
  RankedTensorType type = weight ? cast<RankedTensorType>(weight.getType()) : tensor(shape);
  if (!weight)
    fail("tensor '" + name + "' is missing; expected shape " + shapeText(shape) + tensorHint);
  else if (significant(type.getShape()) != significant(shape))
    fail("tensor '" + name + "' has shape " + shapeText(type.getShape()) + "; expected " +
         shapeText(shape) + " from the metadata" + tensorHint);
  else if (!isUsable(ir::storageFormat(type)))
    fail("tensor '" + name + "' is stored as " + ir::storageFormat(type) +
         "; expected f32, f16, bf16 or a quantised format; convert the file again");
  type = RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
  if (weight)
    weight.setType(type);
  return weights[name] = ir::GetWeightOp::create(b, loc(name), type, name);
}

Value Blocks::optionalWeight(StringRef name, ArrayRef<int64_t> shape) {
  bool wanted = missing == MissingWeights::DeclareAll || hasWeight(name);
  return wanted ? weight(name, shape) : Value();
}

std::vector<std::string> Blocks::unusedTensors() const {
  std::vector<std::string> names;
  for (auto weight : ModuleOp(module).getOps<ir::WeightOp>())
    if (!weights.contains(weight.getSymName()))
      names.push_back(weight.getSymName().str());
  return names;
}

// ---- simple blocks ----

Value Blocks::scale(Value x, float s, const Twine &name) {
  return ir::ScaleOp::create(b, loc(name), x.getType(), x, llvm::APFloat(s));
}

Value Blocks::add(Value x, Value y, const Twine &name, Where where) {
  At at(*this, where);
  return ir::AddOp::create(b, loc(name), x.getType(), x, y);
}

Value Blocks::transpose(Value x, ArrayRef<int64_t> perm, const Twine &name) {
  SmallVector<int64_t> shape;
  for (int64_t axis : perm)
    shape.push_back(ir::shapeOf(x).getDimSize(axis));
  return ir::TransposeOp::create(b, loc(name), tensor(shape), x, perm);
}

Value Blocks::softcap(Value x, float cap, const Twine &name) {
  Value small = scale(x, 1 / cap, "");
  Value bent = ir::UnaryOp::create(b, loc(""), x.getType(), small, "tanh");
  return scale(bent, cap, name);
}

Value Blocks::embed(int64_t nVocab, int64_t nEmbd, float s, Where where) {
  At at(*this, where);
  Value table = weight("token_embd.weight", {nVocab, nEmbd});
  Value x =
      ir::GatherRowsOp::create(b, loc(s == 1 ? "embed" : ""), tensor({dyn, nEmbd}), table, arg(0));
  return s == 1 ? x : scale(x, s, "embed");
}

Value Blocks::rmsNorm(Value x, const Twine &weightName, float eps, const Twine &name, Where where) {
  At at(*this, where);
  int64_t width = ir::shapeOf(x).getShape().back();
  Value w = weight((weightName + ".weight").str(), {width});
  Value n = ir::RMSNormOp::create(b, loc(""), x.getType(), x, llvm::APFloat(eps));
  return ir::MulOp::create(b, loc(name), x.getType(), n, w);
}

Value Blocks::linear(Value x, const Twine &weightName, int64_t n, const Twine &name, Where where) {
  At at(*this, where);
  int64_t k = ir::shapeOf(x).getDimSize(1);
  Value w = weight((weightName + ".weight").str(), {n, k});
  Value bias = optionalWeight((weightName + ".bias").str(), {n});
  Location yLoc = bias ? loc("") : loc(name);
  Value y = ir::MatmulOp::create(b, yLoc, tensor({dyn, n}), x, w);
  return bias ? add(y, bias, name) : y;
}

Value Blocks::heads(Value x, const Twine &weightName, int64_t heads, int64_t headDim,
                    const Twine &name, Where where) {
  At at(*this, where);
  Value y = linear(x, weightName, heads * headDim, name);
  return ir::ReshapeOp::create(b, loc(name), tensor({dyn, heads, headDim}), y);
}

Value Blocks::rope(Value x, const RopeSpec &r, const Twine &name, Where where) {
  At at(*this, where);
  auto f = [](float v) { return llvm::APFloat(v); };
  return ir::RopeOp::create(b, loc(name), x.getType(), x, positions(), r.factors, r.mode, r.nDims,
                            f(r.base), f(r.freqScale), f(r.extFactor), f(r.attnFactor),
                            f(r.betaFast), f(r.betaSlow), r.nCtxOrig);
}

// ---- attention ----

Value Blocks::cache(int layer, StringRef kind, int64_t heads, int64_t headDim) {
  std::string name = layerName(layer, kind + "_cache");
  auto type = ir::StateType::get(b.getContext(), heads, headDim, kvElement);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(func);
  ir::StateOp::create(b, loc(name), name, kind, type);
  b.setInsertionPointToEnd(&func.front());
  return ir::GetStateOp::create(b, loc(name), type, name);
}

Value Blocks::attention(Value q, Value k, Value v, int layer, const AttentionSpec &spec,
                        Where where) {
  At at(*this, where);
  int64_t heads = spec.nHead, kvHeads = spec.nHeadKV, d = spec.headDim;
  Value kState = cache(layer, "k", kvHeads, d), vState = cache(layer, "v", kvHeads, d);
  ir::KvStoreOp::create(b, loc(""), kState, k, arg(3));
  ir::KvStoreOp::create(b, loc(""), vState, v, arg(3));
  auto cells = tensor({dyn, kvHeads, d});
  Value keys = ir::KvLoadOp::create(b, loc(layerName(layer, "k_cache")), cells, kState, arg(5));
  Value values = ir::KvLoadOp::create(b, loc(layerName(layer, "v_cache")), cells, vState, arg(5));

  auto scoresType = tensor({heads, dyn, dyn});
  Value s = ir::BmmOp::create(b, loc(""), scoresType, transpose(q, {1, 0, 2}),
                              transpose(keys, {1, 0, 2}), /*mask=*/Value());
  std::string scores = layerName(layer, "attn_scores");
  s = scale(s, spec.scale, spec.softcap == 0 ? scores : "");
  if (spec.softcap != 0)
    s = softcap(s, spec.softcap, scores);
  Value mask = ir::AttnMaskOp::create(b, loc(""), tensor({dyn, dyn}), positions(), arg(2), arg(6),
                                      arg(7), spec.window);
  Value probs = ir::SoftmaxOp::create(b, loc(layerName(layer, "attn_probs")), scoresType, s, mask);
  Value ctx = ir::BmmOp::create(b, loc(""), tensor({heads, dyn, d}), probs,
                                transpose(values, {1, 2, 0}), mask);
  std::string name = layerName(layer, "attn_ctx");
  Value byToken = transpose(ctx, {1, 0, 2}, name);
  return ir::ReshapeOp::create(b, loc(name), tensor({dyn, heads * d}), byToken);
}

// ---- feed-forward and head ----

Value Blocks::gatedFfn(Value x, int layer, int64_t nFf, StringRef activation, Where where) {
  At at(*this, where);
  auto name = [&](StringRef suffix) { return layerName(layer, suffix); };
  int64_t nEmbd = ir::shapeOf(x).getDimSize(1);
  Value gate = linear(x, name("ffn_gate"), nFf, name("ffn_gate"));
  Value up = linear(x, name("ffn_up"), nFf, name("ffn_up"));
  Value act = ir::UnaryOp::create(b, loc(""), gate.getType(), gate, activation);
  Value product = ir::MulOp::create(b, loc(name("ffn_act")), gate.getType(), act, up);
  return linear(product, name("ffn_down"), nEmbd, name("ffn_out"));
}

void Blocks::head(Value x, int64_t nVocab, float eps, float cap, Where where) {
  At at(*this, where);
  int64_t nEmbd = ir::shapeOf(x).getDimSize(1);
  Value rows = ir::GatherRowsOp::create(b, loc(""), x.getType(), x, arg(4));
  Value n = rmsNorm(rows, "output_norm", eps, "final_norm");
  Value w = optionalWeight("output.weight", {nVocab, nEmbd});
  if (!w)
    w = weight("token_embd.weight", {nVocab, nEmbd});
  Value logits =
      ir::MatmulOp::create(b, loc(cap == 0 ? "logits" : ""), tensor({dyn, nVocab}), n, w);
  if (cap != 0)
    logits = softcap(logits, cap, "logits");
  func::ReturnOp::create(b, loc(""), logits);
  func.setFunctionType(b.getFunctionType(func.getArgumentTypes(), logits.getType()));
}

} // namespace vetro
