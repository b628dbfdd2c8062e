// Sums are in double, so that the figures are exact to the digits shown.
#include "runtime/compare/Metrics.h"

#include "runtime/abi/Float.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace vetro {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

double ratio(double error, double square) {
  return error == 0 ? 0 : square == 0 ? infinite : error / square;
}

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// a - b; 0 where both are the same infinity or NaN, infinite where one is no number.
double apart(float a, float b) {
  if (same(a, b))
    return 0;
  double d = double(a) - double(b);
  return std::isfinite(d) ? d : infinite;
}

/// Error and square of each index along one axis; the largest ratio and its index.
struct Worst {
  std::vector<double> error, square;
  explicit Worst(int64_t n) : error(n), square(n) {}
  void add(int64_t i, double e, double s) { error[i] += e, square[i] += s; }
  std::pair<int64_t, double> find() const {
    std::pair<int64_t, double> found = {-1, 0};
    for (size_t i = 0; i < error.size(); ++i)
      if (double r = ratio(error[i], square[i]); r > found.second)
        found = {int64_t(i), r};
    return found;
  }
};

/// The smallest number that 0.999 of the differences do not pass.
double quantile(std::vector<float> &differences) {
  if (differences.empty())
    return 0;
  size_t at = std::min(differences.size() - 1, size_t(0.999 * double(differences.size())));
  std::nth_element(differences.begin(), differences.begin() + at, differences.end());
  return differences[at];
}

} // namespace

llvm::StringRef roundedType(llvm::ArrayRef<float> ours, llvm::ArrayRef<float> theirs) {
  static constexpr struct {
    llvm::StringLiteral name;
    bool (*holds)(float);
  } types[] = {{"bf16", [](float x) { return same(bf16ToFloat(floatToBf16(x)), x); }},
               {"f16", [](float x) { return same(f16ToFloat(floatToF16(x)), x); }}};
  for (const auto &type : types)
    if (llvm::all_of(theirs, type.holds) && !llvm::all_of(ours, type.holds))
      return type.name;
  return "";
}

double snrDb(double nmse) { return nmse == 0 ? infinite : -10 * std::log10(nmse); }
double Difference::snrDb() const { return vetro::snrDb(nmse); }

std::vector<int64_t> placeOf(llvm::ArrayRef<int64_t> shape, uint64_t flat) {
  std::vector<int64_t> place(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    place[axis] = int64_t(flat % uint64_t(std::max<int64_t>(shape[axis], 1)));
    flat /= uint64_t(std::max<int64_t>(shape[axis], 1));
  }
  return place;
}

Difference difference(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> ours,
                      llvm::ArrayRef<float> theirs) {
  Difference d;
  d.values = ours.size();
  int64_t rows = shape.empty() ? 1 : shape[0], heads = shape.size() == 3 ? shape[1] : 0;
  if (ours.empty())
    return d;
  uint64_t perRow = ours.size() / rows, perHead = heads ? perRow / heads : perRow;
  Worst byRow(rows), byHead(heads);
  std::vector<float> absolute(ours.size());
  double error = 0, square = 0, own = 0, product = 0;
  for (uint64_t i = 0; i < ours.size(); ++i) {
    double a = ours[i], b = theirs[i], e = apart(ours[i], theirs[i]);
    double size = std::isfinite(b) ? b * b : 0;
    d.nonFinite += std::isfinite(a) != std::isfinite(b);
    error += e * e, square += size;
    if (std::isfinite(a) && std::isfinite(b))
      own += a * a, product += a * b;
    byRow.add(i / perRow, e * e, size);
    if (heads)
      byHead.add(i / perHead % heads, e * e, size);
    absolute[i] = float(std::fabs(e));
    if (std::fabs(e) > d.maxAbs)
      d.maxAbs = std::fabs(e), d.maxAt = i, d.ours = ours[i], d.theirs = theirs[i];
  }
  d.nmse = ratio(error, square);
  d.cosine = own == 0 && square == 0 ? 1 : product / std::sqrt(own * square);
  d.q999 = quantile(absolute);
  std::tie(d.worstRow, d.rowNmse) = byRow.find();
  std::tie(d.worstHead, d.headNmse) = byHead.find();
  return d;
}

double logSumExp(llvm::ArrayRef<float> x) {
  double most = *std::max_element(x.begin(), x.end()), sum = 0;
  for (float v : x)
    sum += std::exp(v - most);
  return most + std::log(sum);
}

/// log of the softmax, in double.
static std::vector<double> logSoftmax(llvm::ArrayRef<float> x) {
  double sum = logSumExp(x);
  std::vector<double> out(x.size());
  for (auto [o, v] : llvm::zip_equal(out, x))
    o = v - sum;
  return out;
}

/// The n best ids, best first; ties go to the lower id.
static std::vector<uint32_t> best(llvm::ArrayRef<float> x, size_t n) {
  std::vector<uint32_t> ids(x.size());
  std::iota(ids.begin(), ids.end(), 0);
  n = std::min(n, ids.size());
  std::partial_sort(ids.begin(), ids.begin() + n, ids.end(),
                    [&](uint32_t a, uint32_t b) { return x[a] != x[b] ? x[a] > x[b] : a < b; });
  ids.resize(n);
  return ids;
}

LogitDifference logitDifference(int64_t rows, llvm::ArrayRef<float> ours,
                                llvm::ArrayRef<float> theirs) {
  LogitDifference d;
  if (rows == 0 || ours.empty())
    return d;
  size_t width = ours.size() / rows;
  double equal = 0, overlap = 0;
  for (int64_t r = 0; r < rows; ++r) {
    auto a = ours.slice(r * width, width), b = theirs.slice(r * width, width);
    auto p = logSoftmax(b), q = logSoftmax(a);
    double kl = 0;
    for (size_t i = 0; i < width; ++i)
      kl += std::exp(p[i]) * (p[i] - q[i]);
    d.meanKl += kl / rows, d.maxKl = std::max(d.maxKl, kl);
    auto bestA = best(a, 10), bestB = best(b, 10);
    equal += bestA[0] == bestB[0];
    overlap +=
        double(llvm::count_if(bestA, [&](uint32_t id) { return llvm::is_contained(bestB, id); })) /
        double(bestB.size());
    float wanted = a[bestB[0]];
    uint64_t rank = llvm::count_if(a, [&](float v) { return v > wanted; });
    d.worstRank = std::max(d.worstRank, rank);
  }
  d.top1 = equal / rows, d.top10 = overlap / rows;
  return d;
}

} // namespace vetro
