// Lab 03: one head recomputed outside of Vetro. The interpreter gives what the model computes; what
// it does not compute, halves in place of neighbours, is a program of one op.
#include "labs/Check.h"
#include "labs/Values.h"
#include "runtime/compare/Metrics.h"
#include "runtime/engine/Dump.h"
#include "runtime/engine/Program.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace vetro::labs {

// The lesson's command: vetro dump tiny -p "Once upon a time there was a" --reference --kv f32
constexpr llvm::StringLiteral prompt = "Once upon a time there was a";
constexpr llvm::StringLiteral normWeight = "blk.0.attn_norm.weight";
constexpr int64_t head = 1; // of the queries

namespace {
/// The numbers that the model's norms and rotations go by.
struct Constants {
  double eps = 0, ropeBase = 0;
  int64_t ropeDims = 0;
};

/// What the lesson looks at, as the interpreter has it. Rows are tokens.
struct Layer {
  Constants constants;
  NamedTensor attnNorm; ///< [T, E]
  NamedTensor q, qRope; ///< [T, H, D]
  NamedTensor k, kRope; ///< [T, G, D]
};
} // namespace

static Constants constantsOf(const Reference &reference) {
  Constants c;
  auto forward = reference.graph().forward();
  forward.walk([&](ir::RMSNormOp op) { c.eps = op.getEps().convertToFloat(); });
  forward.walk([&](ir::RopeOp op) {
    c.ropeBase = op.getBase().convertToFloat();
    c.ropeDims = op.getNDims();
  });
  return c;
}

static llvm::Expected<Layer> runLayer(ModelOptions tiny) {
  tiny.kvType = "f32";
  auto reference = Reference::create(tiny, {});
  if (!reference)
    return reference.takeError();
  auto globs =
      HookGlobs::create({"blk.0.attn_norm", "blk.0.q", "blk.0.q_rope", "blk.0.k", "blk.0.k_rope"});
  if (!globs)
    return globs.takeError();
  std::vector<int32_t> ids = (*reference)->tokenizer().encode(prompt, true, false);
  auto dump = dumpReference(**reference, tiny, ids, *globs);
  if (!dump)
    return dump.takeError();
  Layer layer;
  layer.constants = constantsOf(**reference);
  for (HookValue &value : dump->values)
    for (auto [name, to] : {std::pair{"blk.0.attn_norm", &layer.attnNorm},
                            {"blk.0.q", &layer.q},
                            {"blk.0.q_rope", &layer.qRope},
                            {"blk.0.k", &layer.k},
                            {"blk.0.k_rope", &layer.kRope}})
      if (value.tensor.name == name)
        *to = std::move(value.tensor);
  return layer;
}

/// What the student's program needs of the model and no command prints.
static llvm::Error prepare(const Folder &folder, const ModelOptions &tiny) {
  auto layer = runLayer(tiny);
  if (!layer)
    return layer.takeError();
  auto file = gguf::File::open(tiny.path, tiny.open);
  if (!file)
    return file.takeError();
  FileWeights weights(**file);
  NamedTensor weight{normWeight.str(), {layer->attnNorm.shape.back()}, {}};
  weight.data.resize(weight.shape[0]);
  weights.readRow(normWeight, 0, weight.data.data());
  auto text = [](double value) {
    std::string digits;
    llvm::raw_string_ostream(digits) << llvm::format("%.9g", value);
    return digits;
  };
  return writeTensors(folder.pathOf("weights.safetensors"), {weight},
                      {{"eps", text(layer->constants.eps)},
                       {"rope_base", text(layer->constants.ropeBase)},
                       {"heads", std::to_string(layer->q.shape[1])},
                       {"kv_heads", std::to_string(layer->k.shape[1])}});
}

/// `x` [T, H, D] rotated as pairs of halves, by the interpreter.
static llvm::Expected<std::vector<float>> rotatedHalves(const NamedTensor &x, const Constants &c) {
  std::string type =
      "tensor<?x" + std::to_string(x.shape[1]) + "x" + std::to_string(x.shape[2]) + "xf32>";
  auto text = llvm::formatv("func.func @f(%x: {0} {{vetro.input = \"{1}\"}, %p: tensor<?xi32> "
                            "{{vetro.input = \"positions\"}) -> {0} {{\n"
                            "  %y = vetro.rope %x, %p {{mode = \"neox\", n_dims = {2} : i64, "
                            "base = {3:e9} : f32} : ({0}, tensor<?xi32>) -> {0}\n"
                            "  return %y : {0}\n}\n",
                            type, x.name, c.ropeDims, c.ropeBase)
                  .str();
  auto program = Program::parse(text, "rope");
  if (!program)
    return program.takeError();
  if (llvm::Error error = (*program)->bind(*fileOf({x})))
    return std::move(error);
  auto results = (*program)->interpret();
  if (!results)
    return results.takeError();
  return std::move(results->front().value.data);
}

/// A head of a token of [T, H, D].
static llvm::ArrayRef<float> headOf(llvm::ArrayRef<float> data, llvm::ArrayRef<int64_t> shape,
                                    int64_t token, int64_t head) {
  return data.slice((token * shape[1] + head) * shape[2], shape[2]);
}

/// PyTorch's order of a head's numbers: ours[2i + r] = theirs[r * d/2 + i].
static std::vector<double> toHalves(llvm::ArrayRef<float> ours) {
  std::vector<double> theirs(ours.size());
  for (size_t i = 0; i < ours.size(); ++i)
    theirs[i % 2 * (ours.size() / 2) + i / 2] = ours[i];
  return theirs;
}

static double dot(llvm::ArrayRef<float> a, llvm::ArrayRef<float> b) {
  double sum = 0;
  for (auto [x, y] : llvm::zip_equal(a, b))
    sum += double(x) * y;
  return sum;
}

static Truth values(llvm::ArrayRef<float> numbers) {
  return {.numbers = {numbers.begin(), numbers.end()}};
}

static llvm::Expected<Truths> truths(const Folder &, const ModelOptions &tiny) {
  auto layer = runLayer(tiny);
  if (!layer)
    return layer.takeError();
  auto halves = rotatedHalves(layer->q, layer->constants);
  if (!halves)
    return halves.takeError();
  llvm::ArrayRef<int64_t> shape = layer->q.shape;
  int64_t last = shape[0] - 1, d = shape[2], embd = layer->attnNorm.shape[1];
  llvm::ArrayRef<float> rope = headOf(layer->qRope.data, shape, last, head),
                        neox = headOf(*halves, shape, last, head);
  // Token 0 stands at position 0: its key turns by nothing, whatever the pairs.
  llvm::ArrayRef<float> key =
      headOf(layer->kRope.data, layer->k.shape, 0, head * layer->k.shape[1] / shape[1]);
  Truths all;
  all["norm"] = values(llvm::ArrayRef(layer->attnNorm.data).slice(last * embd, embd));
  all["rope_norm"] = values(rope);
  all["rope_neox"] = values(neox);
  all["halves"] = {.numbers = toHalves(rope)};
  all["partners"] = {.numbers = {1, double(d / 2)}};
  all["angle"] = {.numbers = {last * std::pow(layer->constants.ropeBase, -2.0 / d)}};
  all["trap"] = {.numbers = {difference({d}, neox, rope).snrDb()}};
  all["scores"] = {.numbers = {dot(rope, key), dot(neox, key)}};
  return all;
}

const LabCode normAndRope{"03", prepare, truths};

} // namespace vetro::labs
