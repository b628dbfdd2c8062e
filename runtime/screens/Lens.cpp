// Logits of each layer's result.
#include "runtime/screens/Lens.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace vetro::screens {

/// What logits say, and how an id fares among them (negative: none).
static LensLayer read(const std::string &name, const Tokenizer &tokenizer,
                      llvm::ArrayRef<float> logits, int64_t drawn) {
  size_t best = size_t(std::max_element(logits.begin(), logits.end()) - logits.begin());
  double sum = 0;
  for (float x : logits)
    sum += std::exp(double(x) - logits[best]);
  LensLayer layer{name, int32_t(best), tokenizer.token(int32_t(best)).str(), 1 / sum};
  if (drawn >= 0 && size_t(drawn) < logits.size()) {
    float ours = logits[size_t(drawn)];
    layer.drawnRank = uint64_t(llvm::count_if(logits, [&](float x) { return x > ours; })) + 1;
    layer.drawnP = std::exp(double(ours) - logits[best]) / sum;
  }
  return layer;
}

llvm::Expected<std::vector<LensLayer>> lensOf(Recording &r, size_t token) {
  std::vector<LensLayer> lens;
  std::vector<std::string> names;
  for (const auto &step : r.document()["steps"])
    for (const auto &name : step["values"])
      if (llvm::StringRef(name.get_ref<const std::string &>()).ends_with(".l_out"))
        names.push_back(name);
  if (!r.model() || names.empty() || token >= r.nRun())
    return lens;
  auto values = r.values(token, names);
  if (!values)
    return values.takeError();
  const auto &here = r.document()["tokens"][token];
  int64_t drawn = here.contains("sampled") ? here["sampled"]["id"].get<int64_t>() : -1;
  for (const HookValue &value : *values) {
    auto logits = r.logitsWith(token, names.back(), value);
    if (!logits)
      return logits.takeError();
    lens.push_back(read(value.tensor.name, r.model()->tokenizer(), *logits, drawn));
  }
  return lens;
}

} // namespace vetro::screens
