// The meaning of each op but those of attention.
#include "compiler/reference/Ops.h"
#include "compiler/ir/Shapes.h"
#include "compiler/reference/AttentionOps.h"
#include "compiler/reference/MoeOps.h"

#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace vetro::ref {

float dot(const float *a, const float *b, int64_t n, bool doubleSums) {
  if (doubleSums) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
      sum += double(a[i]) * b[i];
    return float(sum);
  }
  float lanes[16] = {};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int l = 0; l < 16; ++l)
      lanes[l] += a[i + l] * b[i + l];
  for (; i < n; ++i)
    lanes[0] += a[i] * b[i];
  float sum = 0;
  for (float lane : lanes)
    sum += lane;
  return sum;
}

void readRow(const Operand &x, int64_t row, int64_t n, float *out, const Context &c) {
  if (x.tensor)
    std::copy_n(x.tensor->data.data() + row * n, n, out);
  else
    c.weights.readRow(x.symbol, row, out);
}

Tensor materialize(const Operand &x, Value v, const Context &c) {
  if (x.tensor)
    return *x.tensor;
  Tensor t(ir::shapeOf(v).getShape());
  for (int64_t r = 0; r < t.rows(); ++r)
    c.weights.readRow(x.symbol, r, t.row(r));
  return t;
}

static llvm::Expected<Tensor> gatherRows(ir::GatherRowsOp op, ArrayRef<Operand> in,
                                         const Context &c) {
  int64_t width = ir::shapeOf(op.getTable()).getDimSize(1);
  const std::vector<int32_t> &ids = in[1].tensor->ids;
  int64_t rows = in[0].tensor ? in[0].tensor->dim(0) : ir::shapeOf(op.getTable()).getDimSize(0);
  Tensor y({int64_t(ids.size()), width});
  for (size_t t = 0; t < ids.size(); ++t) {
    if (ids[t] < 0 || ids[t] >= rows)
      return llvm::createStringError("row %d asked of a table of %lld rows", ids[t],
                                     (long long)rows);
    readRow(in[0], ids[t], width, y.row(t), c);
  }
  return y;
}

static Tensor matmul(ir::MatmulOp op, ArrayRef<Operand> in, const Context &c) {
  const Tensor &x = *in[0].tensor;
  int64_t tokens = x.dim(0), width = x.dim(1), n = ir::shapeOf(op.getW()).getDimSize(0);
  Tensor y({tokens, n});
  c.forEach(n, [&](int64_t row) {
    std::vector<float> w(width);
    readRow(in[1], row, width, w.data(), c);
    for (int64_t t = 0; t < tokens; ++t)
      y.row(t)[row] = dot(x.row(t), w.data(), width, c.options.doubleSums);
  });
  return y;
}

/// f(a, b) with b repeated along missing axes and axes of length 1.
static Tensor elementwise(const Tensor &a, const Tensor &b, float (*f)(float, float)) {
  Tensor y(a.shape);
  int rank = a.shape.size(), rankB = b.shape.size();
  for (int64_t i = 0; i < y.size(); ++i) {
    int64_t rest = i, index = 0, stride = 1;
    for (int axis = 1; axis <= rankB; ++axis) {
      int64_t at = rest % a.shape[rank - axis];
      rest /= a.shape[rank - axis];
      index += b.shape[rankB - axis] == 1 ? 0 : at * stride;
      stride *= b.shape[rankB - axis];
    }
    y.data[i] = f(a.data[i], b.data[index]);
  }
  return y;
}

static Tensor rmsNorm(ir::RMSNormOp op, const Tensor &x, const Context &c) {
  Tensor y(x.shape);
  float eps = op.getEps().convertToFloat();
  for (int64_t r = 0; r < x.rows(); ++r) {
    float mean = dot(x.row(r), x.row(r), x.dim(-1), c.options.doubleSums) / x.dim(-1);
    float scale = 1.0f / std::sqrt(mean + eps);
    for (int64_t i = 0; i < x.dim(-1); ++i)
      y.row(r)[i] = x.row(r)[i] * scale;
  }
  return y;
}

using Function = float (*)(float);
static Function unaryFunction(StringRef kind) {
  return llvm::StringSwitch<Function>(kind)
      .Case("silu", [](float x) { return x / (1 + std::exp(-x)); })
      .Case("gelu",
            [](float x) {
              return 0.5f * x *
                     (1 + std::tanh(0.79788456080286535588f * x * (1 + 0.044715f * x * x)));
            })
      .Case("gelu_erf", [](float x) { return 0.5f * x * (1 + std::erf(x * float(M_SQRT1_2))); })
      .Case("gelu_quick", [](float x) { return x / (1 + std::exp(-1.702f * x)); })
      .Case("relu", [](float x) { return x <= 0 ? 0 : x; })
      .Case("sqr", [](float x) { return x * x; })
      .Case("sqrt", [](float x) { return std::sqrt(x); })
      .Case("sigmoid", [](float x) { return 1 / (1 + std::exp(-x)); })
      .Case("tanh", [](float x) { return std::tanh(x); })
      .Case("softplus", [](float x) { return x > 20 ? x : std::log1p(std::exp(x)); })
      .Case("exp", [](float x) { return std::exp(x); })
      .Case("neg", [](float x) { return -x; });
}

static Tensor map(const Tensor &x, llvm::function_ref<float(float)> f) {
  Tensor y(x.shape);
  for (int64_t i = 0; i < x.size(); ++i)
    y.data[i] = f(x.data[i]);
  return y;
}

static Tensor reshape(ir::ReshapeOp op, const Tensor &x) {
  Tensor y = x;
  y.shape = Shape(ir::shapeOf(op.getResult()).getShape());
  int64_t fixed = ir::staticProduct(ir::shapeOf(op.getResult()));
  for (int64_t &d : y.shape)
    if (ShapedType::isDynamic(d))
      d = x.size() / fixed;
  return y;
}

static Tensor transpose(ir::TransposeOp op, const Tensor &x) {
  ArrayRef<int64_t> perm = op.getPerm();
  Shape shape, strideX(x.shape.size(), 1), stride;
  for (int i = int(x.shape.size()) - 2; i >= 0; --i)
    strideX[i] = strideX[i + 1] * x.shape[i + 1];
  for (int64_t axis : perm) {
    shape.push_back(x.shape[axis]);
    stride.push_back(strideX[axis]);
  }
  Tensor y(shape);
  for (int64_t i = 0; i < y.size(); ++i) {
    int64_t rest = i, index = 0;
    for (int axis = int(shape.size()) - 1; axis >= 0; --axis) {
      index += rest % shape[axis] * stride[axis];
      rest /= shape[axis];
    }
    y.data[i] = x.data[index];
  }
  return y;
}

static Tensor slice(ir::SliceOp op, const Tensor &x) {
  int64_t axis = op.getAxis(), inner = 1, outer = 1;
  for (int64_t i = 0; i < int64_t(x.shape.size()); ++i)
    (i < axis ? outer : inner) *= i == axis ? 1 : x.shape[i];
  Shape shape = x.shape;
  shape[axis] = op.getLen();
  Tensor y(shape);
  int64_t block = shape[axis] * inner;
  for (int64_t o = 0; o < outer; ++o)
    std::copy_n(&x.data[(o * x.shape[axis] + op.getBegin()) * inner], block, &y.data[o * block]);
  return y;
}

static Tensor concat(ir::ConcatOp op, const Tensor &a, const Tensor &b) {
  int64_t axis = op.getAxis(), outer = 1;
  for (int64_t i = 0; i < axis; ++i)
    outer *= a.shape[i];
  Shape shape = a.shape;
  shape[axis] += b.shape[axis];
  Tensor y(shape);
  int64_t na = a.size() / outer, nb = b.size() / outer;
  for (int64_t o = 0; o < outer; ++o) {
    std::copy_n(&a.data[o * na], na, &y.data[o * (na + nb)]);
    std::copy_n(&b.data[o * nb], nb, &y.data[o * (na + nb) + na]);
  }
  return y;
}

Tensor repeat(const Tensor &x, const Shape &shape) {
  return elementwise(Tensor(shape), x, [](float, float b) { return b; });
}

/// Rounds the 32 numbers at `x` as an a8 record does, adds what it stands for to `y`, and leaves
/// the rest in x. Numbers so small that 127 / max|x| is infinite become 0; NaN spreads over the
/// block.
static void quantizeBlock(float *x, float *y) {
  float amax = 0;
  for (int i = 0; i < 32; ++i)
    if (!std::isnan(amax) && !(std::fabs(x[i]) <= amax))
      amax = std::fabs(x[i]);
  float inverse = 127 / amax, d = std::isinf(inverse) ? 0 : amax / 127;
  if (std::isinf(inverse))
    inverse = 0;
  for (int i = 0; i < 32; ++i) {
    float code = std::nearbyint(x[i] * inverse);
    y[i] += code * d;
    x[i] -= code * d;
  }
}

/// The numbers that the `records` int8 records of each row stand for.
static Tensor quantize(Tensor x, uint32_t records) {
  Tensor y(x.shape);
  for (int64_t begin = 0; begin < x.size(); begin += 32)
    for (uint32_t i = 0; i < records; ++i)
      quantizeBlock(&x.data[begin], &y.data[begin]);
  return y;
}

llvm::Expected<std::vector<Tensor>> evaluate(Operation *op, ArrayRef<Operand> in,
                                             const Context &c) {
  auto x = [&](unsigned i = 0) { return materialize(in[i], op->getOperand(i), c); };
  auto optional = [&](unsigned i) { return op->getNumOperands() > i ? x(i) : Tensor(); };
  auto one = [](Tensor t) { return std::vector<Tensor>{std::move(t)}; };
  using Result = llvm::Expected<std::vector<Tensor>>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](ir::GatherRowsOp o) -> Result {
        auto y = gatherRows(o, in, c);
        if (!y)
          return y.takeError();
        return one(std::move(*y));
      })
      .Case([&](ir::MatmulOp o) -> Result { return one(matmul(o, in, c)); })
      .Case([&](ir::AddOp) -> Result {
        return one(elementwise(x(), x(1), [](float a, float b) { return a + b; }));
      })
      .Case([&](ir::MulOp) -> Result {
        return one(elementwise(x(), x(1), [](float a, float b) { return a * b; }));
      })
      .Case([&](ir::ScaleOp o) -> Result {
        return one(map(x(), [s = o.getS().convertToFloat()](float v) { return s * v; }));
      })
      .Case([&](ir::RMSNormOp o) -> Result { return one(rmsNorm(o, x(), c)); })
      .Case([&](ir::UnaryOp o) -> Result { return one(map(x(), unaryFunction(o.getKind()))); })
      .Case([&](ir::ReshapeOp o) -> Result { return one(reshape(o, x())); })
      .Case([&](ir::TransposeOp o) -> Result { return one(transpose(o, x())); })
      .Case([&](ir::SliceOp o) -> Result { return one(slice(o, x())); })
      .Case([&](ir::ConcatOp o) -> Result { return one(concat(o, x(), x(1))); })
      .Case([&](ir::BroadcastOp o) -> Result {
        return one(repeat(x(), Shape(ir::shapeOf(o.getResult()).getShape())));
      })
      .Case([&](ir::QuantizeOp o) -> Result {
        return one(quantize(x(), ir::recordsOf(o.getResult())));
      })
      .Case([&](ir::RopeOp o) -> Result {
        return one(rope(o, x(), *in[1].tensor, optional(2), c.options.rounding));
      })
      .Case([&](ir::RopeTableOp o) -> Result {
        return one(ropeTable(o, *in[0].tensor, optional(1)));
      })
      .Case([&](ir::BmmOp) -> Result { return one(bmm(x(), x(1), optional(2), c)); })
      .Case([&](ir::SoftmaxOp) -> Result { return one(softmax(x(), optional(1))); })
      .Case([&](ir::AttnMaskOp o) -> Result { return one(attnMask(o, in)); })
      .Case([&](ir::KvStoreOp o) -> Result { return kvStore(in, c), std::vector<Tensor>(); })
      .Case([&](ir::KvLoadOp o) -> Result { return one(kvLoad(o, in, c)); })
      .Case([&](ir::LayerNormOp o) -> Result { return one(layerNorm(o, x())); })
      .Case([&](ir::TopKOp o) -> Result { return one(topK(o, x())); })
      .Case([&](ir::TakeAlongOp o) -> Result { return one(takeAlong(o, x(), *in[1].tensor)); })
      .Case([&](ir::MoeMatmulOp o) -> Result {
        auto y = moeMatmul(o, in, c);
        if (!y)
          return y.takeError();
        return one(std::move(*y));
      })
      .Case([&](ir::ReduceOp o) -> Result { return one(reduce(o, x(), c)); })
      .Case([&](ir::DivOp) -> Result {
        return one(elementwise(x(), x(1), [](float a, float b) { return a / b; }));
      })
      .Case([&](ir::ClampOp o) -> Result {
        float lo = o.getLo().convertToFloat(), hi = o.getHi().convertToFloat();
        return one(map(x(), [=](float v) { return std::min(std::max(v, lo), hi); }));
      })
      .Default([&](Operation *o) -> Result {
        return llvm::createStringError("the interpreter has no meaning for %s",
                                       o->getName().getStringRef().str().c_str());
      });
}

} // namespace vetro::ref
