// The meaning of layer norm, top-k, expert matmul and reductions.
#include "compiler/reference/MoeOps.h"
#include "compiler/ir/Shapes.h"
#include "compiler/reference/AttentionOps.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace vetro::ref {

Tensor layerNorm(ir::LayerNormOp op, const Tensor &x) {
  Tensor y(x.shape);
  int64_t n = x.dim(-1);
  for (int64_t r = 0; r < x.rows(); ++r) {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < n; ++i)
      mean += x.row(r)[i] / n;
    for (int64_t i = 0; i < n; ++i)
      variance += (x.row(r)[i] - mean) * (x.row(r)[i] - mean) / n;
    double scale = 1 / std::sqrt(variance + op.getEps().convertToFloat());
    for (int64_t i = 0; i < n; ++i)
      y.row(r)[i] = float((x.row(r)[i] - mean) * scale);
  }
  return y;
}

/// Whether a comes before b in descending order: NaN after every number.
static bool greater(float a, float b) { return a > b || (std::isnan(b) && !std::isnan(a)); }

/// Places of x[0..n), the largest number first; of equal ones (two NaNs are) the lower place.
static std::vector<int32_t> descending(const float *x, int64_t n) {
  std::vector<int32_t> places(n);
  std::iota(places.begin(), places.end(), 0);
  llvm::sort(places,
             [&](int a, int b) { return greater(x[a], x[b]) || (!greater(x[b], x[a]) && a < b); });
  return places;
}

/// Which of the groups of x[0..n) are looked at.
static std::vector<bool> keptGroups(ir::TopKOp op, const float *x, int64_t n) {
  int64_t groups = op.getGroups(), size = n / groups;
  std::vector<float> score(groups);
  for (int64_t g = 0; g < groups; ++g) {
    std::vector<int32_t> best = descending(x + g * size, size);
    score[g] = x[g * size + best[0]] + (size > 1 ? x[g * size + best[1]] : 0);
  }
  std::vector<bool> kept(groups);
  std::vector<int32_t> best = descending(score.data(), groups);
  for (uint64_t i = 0; i < op.getGroupsUsed(); ++i)
    kept[best[i]] = true;
  return kept;
}

Tensor topK(ir::TopKOp op, const Tensor &x) {
  int64_t k = op.getK(), n = x.dim(1);
  Tensor y({x.dim(0), k});
  for (int64_t t = 0; t < x.dim(0); ++t) {
    std::vector<bool> kept = keptGroups(op, x.row(t), n);
    int64_t chosen = 0;
    for (int32_t place : descending(x.row(t), n))
      if (chosen < k && kept[place / (n / kept.size())]) {
        y.row(t)[chosen++] = float(place); // a dump shows the numbers
        y.ids.push_back(place);
      }
  }
  return y;
}

Tensor takeAlong(ir::TakeAlongOp op, const Tensor &x, const Tensor &idx) {
  int64_t k = ir::shapeOf(op.getIdx()).getDimSize(1);
  Tensor y({x.dim(0), k});
  for (int64_t i = 0; i < y.size(); ++i)
    y.data[i] = x.row(i / k)[idx.ids[i]];
  return y;
}

llvm::Expected<Tensor> moeMatmul(ir::MoeMatmulOp op, ArrayRef<Operand> in, const Context &c) {
  const Tensor &x = *in[0].tensor;
  RankedTensorType w = ir::shapeOf(op.getW());
  const std::vector<int32_t> &idx = in[2].tensor->ids;
  int64_t experts = w.getDimSize(0), n = w.getDimSize(1), width = w.getDimSize(2);
  int64_t chosen = ir::shapeOf(op.getIdx()).getDimSize(1), share = chosen / x.dim(1);
  for (int32_t e : idx)
    if (e < 0 || e >= experts)
      return llvm::createStringError("expert %d asked of %lld", e, (long long)experts);
  Tensor y({x.dim(0), chosen, n});
  c.forEach(n, [&](int64_t row) {
    std::vector<float> weights(width);
    for (int64_t i = 0; i < int64_t(idx.size()); ++i) {
      readRow(in[1], idx[i] * n + row, width, weights.data(), c);
      y.row(i)[row] = dot(x.row(i / share), weights.data(), width, c.options.doubleSums);
    }
  });
  return y;
}

Tensor reduce(ir::ReduceOp op, const Tensor &x, const Context &c) {
  int64_t axis = op.getAxis(), len = x.dim(axis), inner = 1;
  for (size_t i = axis + 1; i < x.shape.size(); ++i)
    inner *= x.shape[i];
  Shape shape = x.shape;
  shape[axis] = 1;
  if (ir::shapeOf(op.getResult()).getRank() < int64_t(shape.size()))
    shape.erase(shape.begin() + axis);
  Tensor y(shape);
  for (int64_t i = 0; i < y.size(); ++i) {
    const float *from = &x.data[i / inner * len * inner + i % inner];
    float max = from[0], sum = 0;
    double wide = 0;
    for (int64_t j = 0; j < len; ++j) {
      if (from[j * inner] > max || std::isnan(from[j * inner]))
        max = from[j * inner];
      sum += from[j * inner], wide += from[j * inner];
    }
    float total = c.options.doubleSums ? float(wide) : sum;
    y.data[i] = op.getKind() == "max" ? max : op.getKind() == "mean" ? total / len : total;
  }
  return y;
}

} // namespace vetro::ref
