// Row by row.
#include "runtime/compare/Choices.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <set>

namespace vetro {

static bool areTied(const ref::Bounded &scores, size_t a, size_t b) {
  auto boundOf = [&](size_t i) { return scores.bound.data.empty() ? 0 : scores.bound.data[i]; };
  return std::fabs(scores.value.data[a] - scores.value.data[b]) <= boundOf(a) + boundOf(b);
}

uint64_t settleTies(const ref::Bounded &scores, const ref::Tensor &theirs, ref::Tensor &ours) {
  int64_t places = scores.value.dim(-1), chosen = ours.dim(-1);
  uint64_t ties = 0;
  for (int64_t at = 0; at < int64_t(ours.ids.size()); at += chosen) {
    llvm::ArrayRef<int32_t> row(&theirs.ids[at], chosen);
    bool sound = llvm::all_of(row, [&](int32_t id) { return id >= 0 && id < places; }) &&
                 std::set<int32_t>(row.begin(), row.end()).size() == row.size();
    for (int64_t i = at; sound && i < at + chosen; ++i) {
      size_t begin = at / chosen * places;
      if (ours.ids[i] == theirs.ids[i] ||
          !areTied(scores, begin + ours.ids[i], begin + theirs.ids[i]))
        continue;
      ours.ids[i] = theirs.ids[i], ours.data[i] = theirs.data[i];
      ++ties;
    }
  }
  return ties;
}

} // namespace vetro
