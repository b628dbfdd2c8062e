// Bounds hold for what only rounds otherwise, and for nothing else: a proof that cannot fail proves
// nothing. The "kernel" here is the interpreter itself, on the same op or on a wrong one.
#include "runtime/engine/Proof.h"
#include "mlir/Parser/Parser.h"
#include "tests/unit/engine/EngineTest.h"

#include <cmath>

using namespace vetro;
using namespace vetro::test;
using ref::Bounded;
using ref::Tensor;

namespace {

/// A number in (-1, 1) that only the two arguments decide.
float number(uint64_t i, uint64_t seed) {
  uint64_t h = i * 0x9E3779B97F4A7C15ull + (seed + 1) * 0xBF58476D1CE4E5B9ull;
  h ^= h >> 31, h *= 0x94D049BB133111EBull, h ^= h >> 29;
  return float(double(h >> 11) / double(1ull << 52) - 1);
}

struct NoWeights : ref::WeightSource {
  void readRow(llvm::StringRef, int64_t, float *) const override {
    llvm_unreachable("weights are operands here");
  }
};
/// Keys and values of a slot: numbers of their own.
struct Slots : ref::StateStore {
  void store(llvm::StringRef, int32_t, const float *, int64_t) override {}
  void load(llvm::StringRef state, int32_t slot, float *out, int64_t n) const override {
    for (int64_t i = 0; i < n; ++i)
      out[i] = number(slot * n + i, state == "k" ? 100 : 101);
  }
};

constexpr int nTokens = 3;

/// An op as text, "%y = vetro.glu %x, ... : (...) -> ..."; its operands of f32 are seeded numbers
/// (the first axis, where dynamic, of `nTokens` rows), ids are 0, 1, 2, 0, ....
class OneOp {
public:
  OneOp(const std::string &arguments, const std::string &op) {
    context.loadDialect<ir::VetroDialect, mlir::func::FuncDialect>();
    std::string text = "vetro.state @k \"k\" : !vetro.state<2, 8, f16>\n"
                       "vetro.state @v \"v\" : !vetro.state<2, 8, f16>\nfunc.func @f(" +
                       arguments +
                       ") {\n%ks = vetro.get_state @k : !vetro.state<2, 8, f16>\n"
                       "%vs = vetro.get_state @v : !vetro.state<2, 8, f16>\n" +
                       op + "\nreturn\n}\n";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(static_cast<bool>(module));
    auto f = module->lookupSymbol<mlir::func::FuncOp>("f");
    theOp = f.front().getTerminator()->getPrevNode();
    for (mlir::Value v : theOp->getOperands())
      operands.push_back({seeded(v, operands.size()), {}});
  }

  Bounded run(bool bounds = true, bool doubleSums = false) {
    ref::InterpreterOptions options;
    options.bounds = bounds, options.doubleSums = doubleSums;
    return must(ref::interpretOp(theOp, operands, weights, state, options)).front();
  }
  double worst(const Tensor &ran) { return compare(ran, run(), {}).worst; }

  std::vector<Bounded> operands;

private:
  static Tensor seeded(mlir::Value v, uint64_t seed) {
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(v.getType());
    if (!type)
      return {};
    ref::Shape shape(type.getShape());
    for (int64_t &d : shape)
      d = mlir::ShapedType::isDynamic(d) ? nTokens : d;
    Tensor t(shape);
    if (type.getElementType().isInteger(32)) {
      for (int64_t i = 0; i < t.size(); ++i)
        t.ids.push_back(int32_t(i % 3));
      t.data.assign(t.ids.begin(), t.ids.end()); // as top_k's are, for a dump
      return t;
    }
    for (int64_t i = 0; i < t.size(); ++i)
      t.data[i] = number(i, seed);
    return t;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *theOp;
  NoWeights weights;
  Slots state;
};

OneOp normMul(const char *eps) {
  return OneOp("%x: tensor<?x64xf32>, %w: tensor<64xf32>",
               std::string("%y = vetro.rms_norm_mul %x, %w {eps = ") + eps +
                   " : f32, names = [\"\"]} : (tensor<?x64xf32>, tensor<64xf32>) -> "
                   "tensor<?x64xf32>");
}
OneOp attention(const std::string &scale, const std::string &softcap = "0.0") {
  return OneOp("%q: tensor<?x4x8xf32>, %p: tensor<?xi32>, %s: tensor<?xi32>, %c: tensor<?xi32>, "
               "%cp: tensor<?xi32>, %cs: tensor<?xi32>",
               "%y = vetro.attention %q, %ks, %vs, %p, %s, %c, %cp, %cs {scale = " + scale +
                   " : f32, softcap = " + softcap +
                   " : f32, window = 0 : i64, names = [\"\", \"\", \"\", \"\", \"\"]} : "
                   "(tensor<?x4x8xf32>, !vetro.state<2, 8, f16>, !vetro.state<2, 8, f16>, "
                   "tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> "
                   "tensor<?x32xf32>");
}
OneOp glu(const std::string &kind) {
  return OneOp("%x: tensor<?x64xf32>, %g: tensor<32x64xf32>, %u: tensor<32x64xf32>",
               "%y = vetro.glu %x, %g, %u {kind = \"" + kind +
                   "\", names = [\"\", \"\", \"\", \"\"]} : (tensor<?x64xf32>, "
                   "tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>");
}
OneOp matmulAdd() {
  return OneOp("%x: tensor<?x64xf32>, %w: tensor<16x64xf32>, %r: tensor<?x16xf32>",
               "%y = vetro.matmul_add %x, %w, %r {names = [\"\"]} : (tensor<?x64xf32>, "
               "tensor<16x64xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>");
}
OneOp normRope(const std::string &base) {
  return OneOp("%x: tensor<?x2x8xf32>, %w: tensor<8xf32>, %p: tensor<?xi32>, "
               "%t: tensor<?x4x2xf32>",
               "%y = vetro.norm_rope %x, %w, %p, %t {operandSegmentSizes = array<i32: 1, 1, 1, 0, "
               "1>, eps = 1.0e-6 : f32, mode = \"neox\", n_dims = 8 : i64, base = " +
                   base +
                   " : f32, names = [\"\", \"\"]} : (tensor<?x2x8xf32>, tensor<8xf32>, "
                   "tensor<?xi32>, tensor<?x4x2xf32>) -> tensor<?x2x8xf32>");
}

/// An op of one operand [T, 6, 32].
OneOp ofX(const std::string &op, const std::string &result = "tensor<?x6x32xf32>") {
  return OneOp("%x: tensor<?x6x32xf32>",
               "%y = vetro." + op + " : (tensor<?x6x32xf32>) -> " + result);
}
OneOp reduce(const std::string &kind) {
  return ofX("reduce %x {kind = \"" + kind + "\", axis = 1 : i64}", "tensor<?x32xf32>");
}
OneOp clamp() { return ofX("clamp %x {lo = -0.5 : f32, hi = 0.5 : f32}"); }
OneOp layerNorm(const std::string &eps = "1.0e-5") {
  return ofX("layer_norm %x {eps = " + eps + " : f32}");
}
OneOp quotient() {
  return OneOp("%a: tensor<?x32xf32>, %b: tensor<?x1xf32>",
               "%y = vetro.div %a, %b : (tensor<?x32xf32>, tensor<?x1xf32>) -> tensor<?x32xf32>");
}
OneOp experts() {
  return OneOp("%x: tensor<?x1x64xf32>, %w: tensor<3x16x64xf32>, %i: tensor<?x2xi32>",
               "%y = vetro.moe_matmul %x, %w, %i : (tensor<?x1x64xf32>, tensor<3x16x64xf32>, "
               "tensor<?x2xi32>) -> tensor<?x2x16xf32>");
}
OneOp takeAlong() {
  return OneOp("%x: tensor<?x8xf32>, %i: tensor<?x2xi32>",
               "%y = vetro.take_along %x, %i : (tensor<?x8xf32>, tensor<?x2xi32>) -> "
               "tensor<?x2xf32>");
}
OneOp gather() {
  return OneOp("%x: tensor<?x32xf32>, %i: tensor<?xi32>",
               "%y = vetro.gather_rows %x, %i : (tensor<?x32xf32>, tensor<?xi32>) -> "
               "tensor<?x32xf32>");
}
OneOp topK() {
  return OneOp("%x: tensor<?x8xf32>",
               "%y = vetro.top_k %x {k = 2 : i64} : (tensor<?x8xf32>) -> tensor<?x2xi32>");
}

/// Lets operand 0 differ by e everywhere.
void loosen(OneOp &op, float e) {
  Tensor &bound = op.operands[0].bound;
  bound = Tensor(op.operands[0].value.shape);
  std::fill(bound.data.begin(), bound.data.end(), e);
}

/// The sequences of attention's tokens and cells: all 0.
void inOneSequence(OneOp &op) {
  op.operands[4].value = op.operands[7].value = Tensor::ofIds({0, 0, 0});
}

} // namespace

/// Other sums (in F64) stay within the bounds; any number that is moved by 4 bounds does not.
static void checkBounds(OneOp &op) {
  Bounded ours = op.run();
  REQUIRE(ours.bound.shape == ours.value.shape);
  CHECK(op.worst(op.run(false, true).value) <= 1);
  for (size_t i = 0; i < ours.value.data.size(); ++i) {
    Tensor wrong = ours.value;
    wrong.data[i] += 4 * ours.bound.data[i];
    CHECK(op.worst(wrong) > 1);
  }
}

TEST_CASE("a result that is off by four bounds is caught") {
  OneOp norm = normMul("1.0e-5"), product = matmulAdd(), rope = normRope("1.0e4");
  OneOp attend = attention("0.5"), capped = attention("0.5", "2.0");
  inOneSequence(attend), inOneSequence(capped);
  OneOp silu = glu("silu"), gelu = glu("gelu");
  for (OneOp *op : {&norm, &product, &rope, &attend, &capped, &silu, &gelu})
    checkBounds(*op);
}

TEST_CASE("bounds of a mixture's ops and of layer_norm catch what is off by four of them") {
  OneOp product = experts(), norm = layerNorm(), sum = reduce("sum"), mean = reduce("mean");
  OneOp ratio = quotient();
  for (OneOp *op : {&product, &norm, &sum, &mean, &ratio})
    checkBounds(*op);
}

// Nothing may differ where the operands do not: else as much as theirs does, and no more.
TEST_CASE("ops that move or choose numbers carry their operand's bound") {
  OneOp max = reduce("max"), limited = clamp(), taken = takeAlong(), rows = gather();
  for (OneOp *op : {&max, &limited, &taken, &rows}) {
    Tensor moved = op->run().value;
    CHECK(op->worst(moved) == 0);
    moved.data[1] += 0.005f;
    CHECK(op->worst(moved) > 1);
    loosen(*op, 0.01f);
    CHECK(op->worst(moved) <= 1);
    moved.data[1] += 0.01f;
    CHECK(op->worst(moved) > 1);
  }
}

TEST_CASE("another expert chosen is never proved") {
  OneOp top = topK();
  Tensor chosen = top.run().value;
  CHECK(top.worst(chosen) == 0);
  std::swap(chosen.ids[0], chosen.ids[1]);
  CHECK(top.worst(chosen) > 1);
}

TEST_CASE("another eps of layer_norm, expert or divisor exceeds the bound") {
  CHECK(layerNorm().worst(layerNorm("1.0e-4").run().value) > 1);
  OneOp other = experts(), divisor = quotient();
  std::swap(other.operands[2].value.ids[0], other.operands[2].value.ids[1]);
  CHECK(experts().worst(other.run().value) > 1);
  divisor.operands[1].value.data[0] *= 1.00001f;
  CHECK(quotient().worst(divisor.run().value) > 1);
}

TEST_CASE("differences of operands reach quotients, means and layer_norm") {
  for (auto make : {quotient, +[] { return reduce("mean"); }, +[] { return layerNorm(); }}) {
    OneOp ours = make(), moved = make();
    for (float &v : moved.operands[0].value.data)
      v += v > 0 ? 0.001f : -0.001f;
    Tensor ran = moved.run().value;
    CHECK(ours.worst(ran) > 1);
    loosen(ours, 0.001f);
    CHECK(ours.worst(ran) <= 1);
  }
}

TEST_CASE("bounds are small against the numbers") {
  OneOp norm = normMul("1.0e-5"), product = matmulAdd(), attend = attention("0.5");
  inOneSequence(attend);
  for (OneOp *op : {&norm, &product, &attend}) {
    Bounded ours = op->run();
    double bounds = 0, values = 0;
    for (size_t i = 0; i < ours.value.data.size(); ++i)
      bounds += ours.bound.data[i], values += std::fabs(ours.value.data[i]);
    CHECK(bounds > 0);
    CHECK(bounds < 1e-4 * values); // some 50 roundings of 6e-8; products cancel to a tenth
  }
}

TEST_CASE("a wrong eps exceeds the bound") {
  CHECK(normMul("1.0e-5").worst(normMul("1.0e-6").run().value) > 1);
}

TEST_CASE("a missing scale, soft-cap or last position exceeds the bound") {
  OneOp right = attention("0.5"), unscaled = attention("1.0"), capped = attention("0.5", "50.0");
  OneOp shorter = attention("0.5");
  for (OneOp *op : {&right, &unscaled, &capped, &shorter})
    inOneSequence(*op);
  CHECK(right.worst(unscaled.run().value) > 1);
  CHECK(right.worst(capped.run().value) > 1);
  for (int list : {5, 6, 7})
    shorter.operands[list].value.ids.pop_back(), shorter.operands[list].value.shape[0] = 2;
  CHECK(right.worst(shorter.run().value) > 1);
}

TEST_CASE("another base, activation, or no residual exceeds the bound") {
  CHECK(normRope("1.0e4").worst(normRope("1.001e4").run().value) > 1);
  CHECK(glu("gelu").worst(glu("gelu_erf").run().value) > 1);
  OneOp product = matmulAdd(), bare = matmulAdd();
  std::fill(bare.operands[2].value.data.begin(), bare.operands[2].value.data.end(), 0.0f);
  CHECK(product.worst(bare.run().value) > 1);
}

TEST_CASE("differences of operands are carried through") {
  OneOp product = matmulAdd();
  Bounded &x = product.operands[0];
  x.bound = Tensor(x.value.shape);
  std::fill(x.bound.data.begin(), x.bound.data.end(), 0.01f);
  Bounded loose = product.run();
  OneOp moved = matmulAdd(); // every x at the end of its range, towards a larger first result
  for (int k = 0; k < 64; ++k)
    moved.operands[0].value.data[k] += moved.operands[1].value.data[k] > 0 ? 0.01f : -0.01f;
  double d = std::fabs(moved.run().value.data[0] - loose.value.data[0]);
  CHECK(d <= loose.bound.data[0]);
  CHECK(d >= 0.95 * loose.bound.data[0]);
}

TEST_CASE("a record's codes may differ near the middle of two only") {
  OneOp quantize("%x: tensor<?x32xf32>", "%y = vetro.quantize %x : (tensor<?x32xf32>) -> "
                                         "tensor<?x32xf32, #vetro.q<a8>>");
  std::vector<float> &x = quantize.operands[0].value.data;
  std::fill(x.begin(), x.end(), 0.0f);
  x[0] = 127, x[1] = 2.5f, x[2] = 2.4f;
  Bounded ours = quantize.run();
  CHECK(ours.bound.data[1] > 1);
  CHECK(ours.bound.data[2] < 1e-5);
  Tensor other = ours.value;
  other.data[1] = 3;
  Proof p = compare(other, ours, std::vector<float>(x.size(), 1.0f));
  CHECK(p.worst <= 1);
  CHECK(p.codesOff == 1);
  CHECK(p.codesWrong == 0);
  other.data[2] = 3;
  CHECK(quantize.worst(other) > 1);
}

TEST_CASE("what is stored as f16 may round to a neighbour within its bound only") {
  Bounded stored;
  stored.value = stored.bound = Tensor({1, 1, 3});
  stored.value.data = {1.0004f, 1.0004f, 1.0f}; // the middle of 1 and the next is 1 + 2^-11
  stored.bound.data = {0.0001f, 0.00001f, 0.0f};
  roundToF16(stored);
  CHECK(stored.value.data == std::vector<float>{1, 1, 1});
  CHECK(stored.bound.data == std::vector<float>{0x1p-10f, 0, 0});
}

TEST_CASE("NaN, other ids and another number of values are never proved") {
  Bounded ours{Tensor({2}), Tensor({2})};
  CHECK(compare(Tensor({2}), ours, {}).worst == 0);
  Tensor nan({2});
  nan.data[1] = NAN;
  CHECK(!(compare(nan, ours, {}).worst <= 1));
  CHECK(!(compare(Tensor({3}), ours, {}).worst <= 1));
  Bounded ids{Tensor::ofIds({4, 5}), {}};
  CHECK(compare(Tensor::ofIds({4, 5}), ids, {}).worst == 0);
  CHECK(!(compare(Tensor::ofIds({5, 4}), ids, {}).worst <= 1));
}
