// The table of floors.
#include "runtime/compare/Floors.h"
#include "compiler/ir/Vetro.h"
#include "compiler/reference/Rope.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace vetro {

static constexpr double u = 0x1p-24;

const ReferenceType *findReferenceType(llvm::StringRef name) {
  static constexpr ReferenceType types[] = {
      {"float64", 0x1p-53}, {"float32", u}, {"float16", 0x1p-11}, {"bfloat16", 0x1p-8}};
  auto found = llvm::find_if(types, [&](const ReferenceType &t) { return t.name == name; });
  return found == std::end(types) ? nullptr : found;
}

double referenceRoundings(mlir::Operation *op, int64_t length, const ReferenceType &type) {
  if (ir::kernelRoundings(op, length) == 0)
    return 0; // moves numbers only
  double n = double(length), sums = std::min(n, 6 * std::sqrt(n)) + 8;
  if (type.unit < u)
    return sums * type.unit / u;
  int roundings = mlir::isa<ir::RopeOp>(op) ? 5 : 2;
  return sums + (type.unit > u ? roundings * type.unit / u : 0);
}

/// `relative` times each number of `value`.
static ref::Tensor relativeTo(const ref::Tensor &value, double relative) {
  ref::Tensor bound(value.shape);
  for (auto [e, v] : llvm::zip_equal(bound.data, value.data))
    e = float(relative * std::fabs(v));
  return bound;
}

void addStorageFloor(mlir::Operation *op, const ReferenceType &type, ref::Bounded &result) {
  auto gather = mlir::dyn_cast<ir::GatherRowsOp>(op);
  if (gather && type.unit > u && gather->getOperand(0).getDefiningOp<ir::GetWeightOp>())
    result.bound = relativeTo(result.value, type.unit);
}

ref::Tensor readingFloor(const ref::Tensor &value, const ReferenceType &type) {
  return type.unit < u ? relativeTo(value, u) : ref::Tensor();
}

double energyFloor(const ReferenceType &type, uint64_t nTokens) {
  double longer = std::max(1.0, double(nTokens) / 1000), coarser = std::max(1.0, type.unit / u);
  return 1e-9 * longer * longer * coarser * coarser;
}

void addAngleFloor(mlir::Operation *op, llvm::ArrayRef<int32_t> positions, ref::Bounded &result) {
  auto rope = mlir::dyn_cast<ir::RopeOp>(op);
  if (!rope || result.bound.data.empty())
    return;
  std::vector<float> freq = ref::ropeFrequencies(ref::ropeParams(rope));
  int64_t half = int64_t(freq.size()), d = result.value.dim(-1), heads = result.value.dim(1);
  bool neighbours = rope.getMode() == "norm";
  double angle = 5 + std::log(std::max(1.0f, rope.getBase().convertToFloat()));
  for (int64_t row = 0; row < result.value.rows(); ++row)
    for (int64_t i = 0; i < half; ++i) {
      int64_t a = row * d + (neighbours ? 2 * i : i), b = neighbours ? a + 1 : a + half;
      double size = std::hypot(result.value.data[a], result.value.data[b]);
      double off = angle * u * std::fabs(double(positions[row / heads])) * freq[i] * size;
      result.bound.data[a] += float(off), result.bound.data[b] += float(off);
    }
}

} // namespace vetro
