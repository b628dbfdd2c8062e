// One function for each way in which differences spread.
#include "compiler/reference/Bounds.h"
#include "compiler/ir/Shapes.h"
#include "compiler/reference/AttentionOps.h"
#include "compiler/reference/MoeOps.h"
#include "compiler/reference/Rope.h"

#include <cmath>

using namespace mlir;

namespace vetro::ref {
namespace {

constexpr double u = 0x1p-24;
/// The one factor of safety: all formulas are of first order, r * u stays below 0.01.
constexpr double secondOrder = 1.01;
/// Below the smallest normal number roundings are absolute; the polynomial of exp ends here too.
constexpr double smallest = 0x1p-125;

/// A tensor of differences; an empty one is 0 everywhere.
struct Differences {
  const Tensor &t;
  double operator()(int64_t i) const { return t.data.empty() ? 0 : t.data[i]; }
};

/// f(i) for each element of y that is a number; infinity and NaN must come out alike.
Tensor eachOf(const Tensor &y, llvm::function_ref<double(int64_t)> f) {
  Tensor e(y.shape);
  for (int64_t i = 0; i < y.size(); ++i)
    e.data[i] = std::isfinite(y.data[i]) ? float(secondOrder * (f(i) + smallest)) : 0;
  return e;
}

/// Sum, product, quotient: r u |y|, and E(a) + E(b), or |b| E(a) + |a| E(b) + E(a) E(b), or
/// (E(a) + |y| E(b)) / (|b| - E(b)). b is repeated as the op repeats it.
Tensor binaryBound(Operation *op, const Tensor &a, Differences ea, const Tensor &b,
                   const Tensor &eb, const Tensor &y, double r) {
  Tensor allB = repeat(b, y.shape), allE = eb.data.empty() ? eb : repeat(eb, y.shape);
  return eachOf(y, [&](int64_t i) {
    double size = std::fabs(y.data[i]), sizeA = std::fabs(a.data[i]), dA = ea(i);
    double sizeB = std::fabs(allB.data[i]), dB = Differences{allE}(i);
    double moved = isa<ir::AddOp>(op)   ? dA + dB
                   : isa<ir::MulOp>(op) ? sizeB * dA + sizeA * dB + dA * dB
                                        : (dA + size * dB) / std::max(0.0, sizeB - dB);
    return r * u * size + moved;
  });
}

/// What an activation makes of the difference e of its x; `y` = f(x).
double throughUnary(StringRef kind, double x, double y, double e) {
  if (kind == "exp")
    return std::fabs(y) * std::expm1(e);
  if (kind == "sqr")
    return (2 * std::fabs(x) + e) * e;
  if (kind == "sqrt")
    return std::sqrt(e);
  // The largest slope: 1.0998 of x * sigmoid(x), 1.129 of both forms of gelu, at most 1 elsewhere.
  return 1.13 * e;
}

/// Activations: r u |y|; gelu's 1 + tanh (1 + erf) loses digits, so that |x| counts.
Tensor unaryBound(StringRef kind, const Tensor &x, Differences ex, const Tensor &y, double r) {
  bool ofX = kind.starts_with("gelu");
  return eachOf(y, [&](int64_t i) {
    return r * u * std::fabs(ofX ? x.data[i] : y.data[i]) +
           throughUnary(kind, x.data[i], y.data[i], ex(i));
  });
}

/// (x - mean) * s, s = 1 / sqrt(mean of squares + eps), the mean only where `centred`: r u |y|; a
/// difference of x reaches its own y times s, and all y through s.
Tensor normBound(const Tensor &x, Differences ex, const Tensor &y, float eps, bool centred,
                 double r) {
  int64_t n = x.dim(-1);
  SmallVector<double> scale, shift, turned; // per row
  for (int64_t row = 0; row < x.rows(); ++row) {
    double mean = 0, size = 0, spread = 0, squares = 0, moved = 0;
    for (int64_t i = 0; i < n; ++i) {
      double v = x.row(row)[i];
      mean += v / n, size += std::fabs(v) / n, spread += ex(row * n + i) / n;
    }
    shift.push_back(centred ? (n / 16 + 6) * u * size + spread : 0);
    for (int64_t i = 0; i < n; ++i) {
      double v = x.row(row)[i] - (centred ? mean : 0), e = ex(row * n + i) + shift.back();
      squares += v * v / n, moved += (std::fabs(v) + e) * e / n;
    }
    scale.push_back(1 / std::sqrt(squares + eps));
    turned.push_back(moved / (squares + eps));
  }
  return eachOf(y, [&](int64_t i) {
    int64_t row = i / n;
    return scale[row] * (ex(i) + shift[row]) + std::fabs(y.data[i]) * (r * u + turned[row]);
  });
}

/// Each p = e^(s - max) / sum: relative to p, r u, the rounding of s - max and of what page maxima
/// differ by (4 u |s - max|, beyond 104 nothing is left), and 2 E(s): its own and the sum's.
Tensor softmaxBound(const Tensor &x, Differences ex, const Tensor &y, double r) {
  int64_t n = x.dim(-1);
  SmallVector<double> relative;
  for (int64_t row = 0; row < x.rows(); ++row) {
    double low = INFINITY, high = -INFINITY, e = 0;
    for (int64_t i = 0; i < n; ++i)
      if (double s = x.row(row)[i]; std::isfinite(s)) {
        low = std::min(low, s), high = std::max(high, s);
        e = std::max(e, ex(row * n + i));
      }
    double range = std::max(0.0, std::min(104.0, high - low));
    relative.push_back(std::expm1((r + 4 * range) * u + 2 * e));
  }
  Tensor e = eachOf(y, [&](int64_t i) { return std::fabs(y.data[i]) * relative[i / n]; });
  for (int64_t i = 0; i < x.size(); ++i)
    if (x.data[i] == -INFINITY)
      e.data[i] = 0; // a masked cell weighs exactly nothing
  return e;
}

/// |w| as a product with int8 records sees it: |scale * code| + |minimum|.
std::vector<float> magnitudes(const Operand &w, int64_t row, int64_t n, const Context &c) {
  std::vector<float> values(n), minima(n);
  readRow(w, row, n, values.data(), c);
  if (!w.tensor)
    c.weights.readMinima(w.symbol, row, minima.data());
  for (int64_t i = 0; i < n; ++i)
    values[i] = std::fabs(values[i] - minima[i]) + std::fabs(minima[i]);
  return values;
}

Tensor absolute(Tensor x) {
  for (float &v : x.data)
    v = std::fabs(v);
  return x;
}

/// x[t] * w[row(i)] for the rows of x and N rows of w: r u sum|x*w| + sum|w| E(x). A pair of int8
/// records cancels: its parts sum to at most 3 |x|.
Tensor productBound(Value x, const Operand &xIn, const Tensor &ex, const Operand &w,
                    const Tensor &y, double kernel, int64_t share, ArrayRef<int32_t> experts,
                    const Context &c) {
  Tensor size = absolute(*xIn.tensor), e(y.shape);
  int64_t k = size.dim(-1), n = y.dim(-1);
  uint32_t records = ir::recordsOf(x);
  double r = kernel + k / 16 + 18 + (records == 0 ? 0 : records == 1 ? 1 : 4);
  double factor = r * u * (records == 2 ? 3 : 1);
  c.forEach(n, [&](int64_t column) {
    std::vector<float> weights;
    for (int64_t i = 0; i < y.rows(); ++i) {
      if (i == 0 || !experts.empty())
        weights = magnitudes(w, (experts.empty() ? 0 : experts[i]) * n + column, k, c);
      double own = factor * dot(size.row(i / share), weights.data(), k, false);
      double from = ex.data.empty() ? 0 : dot(ex.row(i / share), weights.data(), k, false);
      e.row(i)[column] = float(secondOrder * (own + from + smallest));
    }
  });
  return e;
}

/// Products of activations: r u sum|a*b| + sum(|b| E(a) + |a| E(b) + E(a) E(b)), over what the mask
/// lets through.
Tensor bmmBound(const Tensor &a, const Tensor &ea, const Tensor &b, const Tensor &eb,
                const Tensor &mask, const Tensor &y, double kernel, const Context &c) {
  double r = kernel + a.dim(2) / 16 + 17;
  Tensor sizeA = absolute(a), sizeB = absolute(b), e = bmm(sizeA, sizeB, mask, c), most = sizeA;
  Tensor fromA = ea.data.empty() ? Tensor(y.shape) : bmm(ea, sizeB, mask, c);
  for (size_t i = 0; i < ea.data.size(); ++i)
    most.data[i] += ea.data[i];
  Tensor fromB = eb.data.empty() ? Tensor(y.shape) : bmm(most, eb, mask, c);
  return eachOf(y, [&](int64_t i) { return r * u * e.data[i] + fromA.data[i] + fromB.data[i]; });
}

/// A rotation by (cos, sin) of size m: m (r u (|x1| + |x2|) + E(x1) + E(x2)); the rest is copied.
Tensor ropeBound(ir::RopeOp op, const Tensor &x, Differences ex, const Tensor &y, double r) {
  int64_t d = x.dim(-1), half = op.getNDims() / 2;
  bool neighbours = op.getMode() == "norm";
  double m = ropeMagnitude(ropeParams(op));
  Tensor e(y.shape);
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t at = i % d;
    int64_t other = neighbours ? i ^ 1 : at < half ? i + half : i - half;
    double moved =
        at >= 2 * half
            ? ex(i)
            : m * (r * u * (std::fabs(x.data[i]) + std::fabs(x.data[other])) + ex(i) + ex(other));
    e.data[i] = float(secondOrder * (moved + (at < 2 * half ? smallest : 0)));
  }
  return e;
}

/// Sums over an axis: r u sum|x| + sum E(x); a mean divides both; a maximum: the largest E(x).
Tensor reduceBound(ir::ReduceOp op, const Tensor &x, const Tensor &ex, const Tensor &y, double r,
                   const Context &c) {
  bool max = op.getKind() == "max";
  Tensor size = reduce(op, absolute(x), c);
  Tensor moved = ex.data.empty() ? Tensor(y.shape) : reduce(op, ex, c);
  return eachOf(y, [&](int64_t i) { return (max ? 0 : r * u * size.data[i]) + moved.data[i]; });
}

/// What 32 numbers of an int8 record may differ by: where the codes agree, the scale's difference
/// (max E(x) / 127) and its roundings; where x lies so near to the middle of two codes that they
/// may differ, a code more. Of a pair of records: x's own, and half a code of the second twice.
void recordBound(const float *x, const double *ex, const float *y, uint32_t records, double r,
                 float *e) {
  double amax = 0, most = 0;
  for (int i = 0; i < 32; ++i)
    amax = std::max(amax, double(std::fabs(x[i]))), most = std::max(most, ex[i]);
  double d = amax / 127, relative = amax > 0 ? r * u + most / amax : 0;
  for (int i = 0; i < 32; ++i) {
    double code = amax > 0 ? std::fabs(x[i]) / d : 0;
    double middle = std::fabs(code - std::floor(code) - 0.5);
    bool either = amax > 0 && middle <= code * relative + ex[i] / d;
    double bound = amax == 0      ? most
                   : records == 2 ? ex[i] + d * (1 + 2 * relative) / 254 + r * u * std::fabs(x[i])
                                  : std::fabs(y[i]) * relative + (either ? d * (1 + relative) : 0);
    e[i] = float(secondOrder * (bound + smallest));
  }
}

Tensor quantizeBound(uint32_t records, const Tensor &x, Differences ex, const Tensor &y, double r) {
  Tensor e(y.shape);
  for (int64_t begin = 0; begin < x.size(); begin += 32) {
    double block[32];
    for (int i = 0; i < 32; ++i)
      block[i] = ex(begin + i);
    recordBound(&x.data[begin], block, &y.data[begin], records, r, &e.data[begin]);
  }
  return e;
}

} // namespace

/// Ops that only move numbers move their bounds alike.
static llvm::Expected<Tensor> movedBound(Operation *op, ArrayRef<Operand> in,
                                         ArrayRef<const Tensor *> bounds, const Context &c) {
  if (llvm::all_of(bounds, [](const Tensor *t) { return t->data.empty(); }))
    return Tensor();
  SmallVector<Tensor> zeros(in.size());
  SmallVector<Operand> moved(in);
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].tensor || !in[i].tensor->ids.empty())
      continue; // a symbol or ids
    zeros[i] = bounds[i]->data.empty() ? Tensor(in[i].tensor->shape) : *bounds[i];
    moved[i].tensor = &zeros[i];
  }
  auto y = evaluate(op, moved, c);
  if (!y)
    return y.takeError();
  return std::move(y->front());
}

namespace {

/// An op with what its bound depends on.
struct Step {
  Operation *op;
  ArrayRef<Operand> in;
  ArrayRef<const Tensor *> bounds;
  const Tensor &y;
  CountRoundings kernel;
  const Context &c;

  Tensor x(unsigned i = 0) const { return materialize(in[i], op->getOperand(i), c); }
  /// Operand i; empty where the op has none.
  Tensor optional(unsigned i) const { return op->getNumOperands() > i ? x(i) : Tensor(); }
  Differences e(unsigned i = 0) const { return {*bounds[i]}; }
  /// The kernel's roundings with sums of so many terms.
  double r(int64_t length = 1) const { return kernel(op, length); }
};

using Bound = llvm::Expected<Tensor>;

Bound ofBinary(const Step &s) {
  return binaryBound(s.op, s.x(), s.e(), s.x(1), *s.bounds[1], s.y, s.r() + 1);
}
Bound ofScale(const Step &s) {
  double r = s.r() + 1, factor = std::fabs(cast<ir::ScaleOp>(s.op).getS().convertToFloat());
  return eachOf(s.y, [&](int64_t i) { return r * u * std::fabs(s.y.data[i]) + factor * s.e()(i); });
}
Bound ofUnary(const Step &s) {
  double r = s.r();
  return unaryBound(cast<ir::UnaryOp>(s.op).getKind(), s.x(), s.e(), s.y, r == 0 ? 0 : r + 6);
}
Bound ofRMSNorm(const Step &s) {
  int64_t n = s.y.dim(-1);
  float eps = cast<ir::RMSNormOp>(s.op).getEps().convertToFloat();
  return normBound(s.x(), s.e(), s.y, eps, false, s.r(n) + n / 32 + 13);
}
Bound ofLayerNorm(const Step &s) {
  float eps = cast<ir::LayerNormOp>(s.op).getEps().convertToFloat();
  return normBound(s.x(), s.e(), s.y, eps, true, s.r(s.y.dim(-1)) + 2);
}
Bound ofSoftmax(const Step &s) {
  Tensor seen = hide(s.x(), s.optional(1), -INFINITY);
  return softmaxBound(seen, s.e(), s.y, s.r(s.y.dim(-1)) + 4);
}
/// matmul; moe_matmul, whose third operand says which experts.
Bound ofProduct(const Step &s) {
  const Tensor &x = *s.in[0].tensor;
  bool experts = isa<ir::MoeMatmulOp>(s.op);
  ArrayRef<int32_t> chosen;
  if (experts)
    chosen = s.in[2].tensor->ids;
  return productBound(s.op->getOperand(0), s.in[0], *s.bounds[0], s.in[1], s.y, s.r(x.dim(-1)),
                      experts ? s.y.dim(1) / x.dim(1) : 1, chosen, s.c);
}
Bound ofBmm(const Step &s) {
  return bmmBound(s.x(), *s.bounds[0], s.x(1), *s.bounds[1], s.optional(2), s.y,
                  s.r(s.in[0].tensor->dim(2)), s.c);
}
Bound ofRope(const Step &s) { // the table's 4, and 1e-13 of the sine in F64
  return ropeBound(cast<ir::RopeOp>(s.op), s.x(), s.e(), s.y, s.r() + 5);
}
Bound ofRopeTable(const Step &s) {
  double r = s.r() + 2, m = ropeMagnitude(ropeParams(cast<ir::RopeTableOp>(s.op)));
  return eachOf(s.y, [&](int64_t i) { return r * u * std::fabs(s.y.data[i]) + 2e-13 * m; });
}
Bound ofReduce(const Step &s) {
  auto op = cast<ir::ReduceOp>(s.op);
  int64_t length = ir::shapeOf(op.getX()).getDimSize(op.getAxis());
  return reduceBound(op, s.x(), *s.bounds[0], s.y, s.r(length) + length + 1, s.c);
}
Bound ofQuantize(const Step &s) {
  return quantizeBound(ir::recordsOf(s.op->getResult(0)), s.x(), s.e(), s.y, s.r() + 4);
}
Bound ofMoved(const Step &s) { return movedBound(s.op, s.in, s.bounds, s.c); }
Bound ofClamp(const Step &s) { return *s.bounds[0]; }
Bound exact(const Step &) { return Tensor(); }

constexpr std::pair<llvm::StringLiteral, Bound (*)(const Step &)> boundTable[] = {
    {"vetro.add", ofBinary},           {"vetro.mul", ofBinary},      {"vetro.div", ofBinary},
    {"vetro.scale", ofScale},          {"vetro.unary", ofUnary},     {"vetro.rms_norm", ofRMSNorm},
    {"vetro.layer_norm", ofLayerNorm}, {"vetro.softmax", ofSoftmax}, {"vetro.matmul", ofProduct},
    {"vetro.moe_matmul", ofProduct},   {"vetro.bmm", ofBmm},         {"vetro.rope", ofRope},
    {"vetro.rope_table", ofRopeTable}, {"vetro.reduce", ofReduce},   {"vetro.quantize", ofQuantize},
    {"vetro.gather_rows", ofMoved},    {"vetro.reshape", ofMoved},   {"vetro.transpose", ofMoved},
    {"vetro.slice", ofMoved},          {"vetro.concat", ofMoved},    {"vetro.broadcast", ofMoved},
    {"vetro.take_along", ofMoved},     {"vetro.clamp", ofClamp},     {"vetro.attn_mask", exact},
    {"vetro.kv_load", exact},          {"vetro.top_k", exact},
};

} // namespace

llvm::Expected<Tensor> boundOf(Operation *op, ArrayRef<Operand> in, ArrayRef<const Tensor *> bounds,
                               const Tensor &y, CountRoundings kernel, const Context &c) {
  StringRef name = op->getName().getStringRef();
  for (const auto &[known, bound] : boundTable)
    if (known == name)
      return bound({op, in, bounds, y, kernel, c});
  return llvm::createStringError("%s has no bound", name.str().c_str());
}

} // namespace vetro::ref
