// Sums in double, position after position, whatever computed the logits.
#include "runtime/compare/Divergence.h"
#include "runtime/compare/Metrics.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

namespace vetro {

void Moments::add(double x) {
  double before = x - average;
  average += before / double(++n);
  squares += before * (x - average);
}

double Moments::error() const { return n < 2 ? 0 : std::sqrt(squares / double(n - 1) / double(n)); }

PositionDivergence divergence(llvm::ArrayRef<float> logits, llvm::ArrayRef<float> base,
                              int32_t next) {
  constexpr float leastLogP = -16;
  PositionDivergence d;
  double sum = logSumExp(logits);
  for (auto [logit, logP] : llvm::zip_equal(logits, base))
    if (logP > leastLogP)
      d.kl += std::exp(double(logP)) * (logP - (logit - sum));
  d.nll = sum - logits[next];
  d.nllBase = -double(base[next]);
  d.deltaP = std::exp(-d.nll) - std::exp(-d.nllBase);
  auto first = [](llvm::ArrayRef<float> x) { return llvm::max_element(x) - x.begin(); };
  d.sameTop = first(logits) == first(base);
  return d;
}

void DivergenceStatistics::add(const PositionDivergence &p) {
  klMoments.add(p.kl);
  base.add(p.nllBase);
  difference.add(p.nll - p.nllBase);
  delta.add(p.deltaP);
  deltaSquared.add(p.deltaP * p.deltaP);
  nSameTop += p.sameTop;
  kls.push_back(p.kl);
  deltas.push_back(p.deltaP);
}

Estimate DivergenceStatistics::rmsDeltaP() const {
  double rms = std::sqrt(deltaSquared.mean());
  return {rms, rms > 0 ? 0.5 / rms * deltaSquared.error() : 0}; // d sqrt(x) = dx / (2 sqrt(x))
}

Estimate DivergenceStatistics::sameTop() const {
  uint64_t n = count();
  if (n == 0)
    return {};
  double share = double(nSameTop) / double(n);
  return {share, n > 1 ? std::sqrt(share * (1 - share) / double(n - 1)) : 0};
}

static std::vector<double> valuesAt(std::vector<double> values, llvm::ArrayRef<double> fractions) {
  std::vector<double> found;
  if (values.empty())
    return std::vector<double>(fractions.size(), 0.0);
  llvm::sort(values);
  for (double fraction : fractions) {
    double at = fraction * double(values.size() - 1), below = std::floor(at);
    size_t i = size_t(below), above = std::min(i + 1, values.size() - 1);
    found.push_back((1 - (at - below)) * values[i] + (at - below) * values[above]);
  }
  return found;
}

std::vector<double> DivergenceStatistics::klAt(llvm::ArrayRef<double> fractions) const {
  return valuesAt(kls, fractions);
}
std::vector<double> DivergenceStatistics::deltaPAt(llvm::ArrayRef<double> fractions) const {
  return valuesAt(deltas, fractions);
}

} // namespace vetro
