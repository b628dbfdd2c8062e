// The meaning of rope, bmm, softmax, the mask and the KV cache.
#include "compiler/reference/AttentionOps.h"
#include "compiler/ir/Shapes.h"
#include "compiler/reference/Rope.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace vetro::ref {

/// (cos, sin) of each pair at each position. The angle is rounded to f32, as the models were
/// trained; its cosine and sine are not.
template <typename OpT>
static Tensor cosSin(OpT op, const Tensor &positions, const Tensor &factors) {
  std::vector<float> freq = ropeFrequencies(ropeParams(op));
  float magnitude = ropeMagnitude(ropeParams(op));
  Tensor y({int64_t(positions.ids.size()), int64_t(freq.size()), 2});
  for (int64_t t = 0; t < y.dim(0); ++t)
    for (size_t i = 0; i < freq.size(); ++i) {
      float f = factors.data.empty() ? freq[i] : freq[i] / factors.data[i];
      float angle = float(positions.ids[t]) * f;
      float *pair = &y.data[(t * freq.size() + i) * 2];
      pair[0] = float(std::cos(double(angle))) * magnitude;
      pair[1] = float(std::sin(double(angle))) * magnitude;
    }
  return y;
}

Tensor ropeTable(ir::RopeTableOp op, const Tensor &positions, const Tensor &factors) {
  return cosSin(op, positions, factors);
}

Tensor rope(ir::RopeOp op, const Tensor &x, const Tensor &positions, const Tensor &factors,
            const Rounding *rounding) {
  auto rounded = [&](float v) { return rounding ? rounding->round(v) : v; };
  Tensor table = cosSin(op, positions, factors), y = x;
  int64_t heads = x.dim(1), half = op.getNDims() / 2;
  bool neighbours = op.getMode() == "norm";
  for (int64_t r = 0; r < x.rows(); ++r)
    for (int64_t i = 0; i < half; ++i) {
      const float *cs = &table.data[(r / heads * half + i) * 2];
      float cos = rounded(cs[0]), sin = rounded(cs[1]);
      int64_t ia = neighbours ? 2 * i : i, ib = neighbours ? 2 * i + 1 : i + half;
      float a = x.row(r)[ia], b = x.row(r)[ib];
      y.row(r)[ia] = rounded(a * cos) - rounded(b * sin);
      y.row(r)[ib] = rounded(a * sin) + rounded(b * cos);
    }
  return y;
}

Tensor hide(Tensor x, const Tensor &mask, float value) {
  for (int64_t i = 0; !mask.data.empty() && i < x.size(); ++i)
    if (mask.data[i % mask.size()] == -std::numeric_limits<float>::infinity())
      x.data[i] = value;
  return x;
}

Tensor bmm(const Tensor &a, const Tensor &b, const Tensor &mask, const Context &c) {
  int64_t groups = a.dim(0), m = a.dim(1), k = a.dim(2), n = b.dim(1), share = groups / b.dim(0);
  Tensor y({groups, m, n});
  Tensor seenA = hide(a, mask, 0);
  c.forEach(groups * m, [&](int64_t r) {
    int64_t g = r / m;
    Tensor hidden({k}), seenB({k});
    if (!mask.data.empty())
      std::copy_n(mask.row(r % m), k, hidden.data.data());
    for (int64_t j = 0; j < n; ++j) {
      std::copy_n(&b.data[((g / share) * n + j) * k], k, seenB.data.data());
      seenB = hide(std::move(seenB), hidden, 0);
      y.row(r)[j] = dot(seenA.row(r), seenB.data.data(), k, c.options.doubleSums);
    }
  });
  return y;
}

Tensor softmax(const Tensor &scores, const Tensor &mask) {
  Tensor x = hide(scores, mask, -std::numeric_limits<float>::infinity()), y(x.shape);
  for (int64_t r = 0; r < x.rows(); ++r) {
    float max = -std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < x.dim(-1); ++i)
      max = std::max(max, x.row(r)[i]);
    double sum = 0;
    for (int64_t i = 0; i < x.dim(-1); ++i)
      sum += y.row(r)[i] = std::exp(x.row(r)[i] - max);
    for (int64_t i = 0; i < x.dim(-1); ++i)
      y.row(r)[i] = float(y.row(r)[i] / sum);
  }
  return y;
}

Tensor attnMask(ir::AttnMaskOp op, ArrayRef<Operand> in) {
  auto &pos = in[0].tensor->ids, &seq = in[1].tensor->ids;
  auto &cellPos = in[2].tensor->ids, &cellSeq = in[3].tensor->ids;
  int64_t window = op.getWindow();
  Tensor y({int64_t(pos.size()), int64_t(cellPos.size())});
  for (size_t t = 0; t < pos.size(); ++t)
    for (size_t c = 0; c < cellPos.size(); ++c) {
      bool seen = seq[t] == cellSeq[c] && cellPos[c] <= pos[t] &&
                  (window == 0 || cellPos[c] > pos[t] - window);
      y.row(t)[c] = seen ? 0 : -std::numeric_limits<float>::infinity();
    }
  return y;
}

void kvStore(ArrayRef<Operand> in, const Context &c) {
  const Tensor &x = *in[1].tensor;
  int64_t n = x.dim(1) * x.dim(2);
  for (int64_t t = 0; t < x.dim(0); ++t)
    c.state.store(in[0].symbol, in[2].tensor->ids[t], &x.data[t * n], n);
}

Tensor kvLoad(ir::KvLoadOp op, ArrayRef<Operand> in, const Context &c) {
  RankedTensorType type = ir::shapeOf(op.getResult());
  const std::vector<int32_t> &cells = in[1].tensor->ids;
  Tensor y({int64_t(cells.size()), type.getDimSize(1), type.getDimSize(2)});
  int64_t n = y.dim(1) * y.dim(2);
  for (size_t i = 0; i < cells.size(); ++i)
    c.state.load(in[0].symbol, cells[i], &y.data[i * n], n);
  return y;
}

} // namespace vetro::ref
