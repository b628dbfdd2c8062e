// Differences over bounds.
#include "runtime/engine/Proof.h"
#include "runtime/abi/Float.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

namespace vetro {

Proof compare(const ref::Tensor &ran, const ref::Bounded &ours, llvm::ArrayRef<float> codeSize) {
  Proof proof;
  constexpr double never = std::numeric_limits<double>::infinity();
  if (ran.ids != ours.value.ids || ran.data.size() != ours.value.data.size())
    proof.worst = never;
  proof.values = std::max(ran.data.size(), ran.ids.size());
  double error = 0, square = 0;
  for (size_t i = 0; i < std::min(ran.data.size(), ours.value.data.size()); ++i) {
    double a = ran.data[i], b = ours.value.data[i], d = a - b;
    if (a == b || (std::isnan(a) && std::isnan(b)))
      d = 0;
    error += d * d, square += b * b;
    double bound = ours.bound.data.empty() ? 0 : ours.bound.data[i];
    double ratio = d == 0 ? 0 : std::fabs(d) / bound;
    if (!(ratio <= proof.worst)) { // NaN: never
      proof.worst = ratio >= 0 ? ratio : never;
      proof.worstAt = i, proof.ran = float(a), proof.recomputed = float(b);
    }
    if (!codeSize.empty() && d != 0) {
      double off = std::fabs(d) / codeSize[i];
      proof.codesOff += !(off <= 0.5), proof.codesWrong += !(off <= 1.5);
    }
  }
  proof.nmse = square > 0 ? error / square : error;
  return proof;
}

void roundToF16(ref::Bounded &stored) {
  if (stored.bound.data.empty())
    stored.bound = ref::Tensor(stored.value.shape);
  auto rounded = [](float v) { return f16ToFloat(floatToF16(v)); };
  for (auto [x, e] : llvm::zip_equal(stored.value.data, stored.bound.data)) {
    float y = rounded(x);
    e = std::max(rounded(x + e) - y, y - rounded(x - e));
    x = y;
  }
}

} // namespace vetro
