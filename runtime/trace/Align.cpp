// Layout transforms and the reading of pairs.
#include "runtime/trace/Align.h"

#include "llvm/ADT/SmallVector.h"
#include <cmath>

namespace vetro {
namespace {

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (int64_t d : shape)
    text += (text.size() > 1 ? "," : "") + std::to_string(d);
  return text + "]";
}

/// Whether it fits; then it is done.
using Transform = bool (*)(llvm::ArrayRef<int64_t> like, NamedTensor &t);

bool dropBatch(llvm::ArrayRef<int64_t>, NamedTensor &t) {
  if (t.shape.size() < 2 || t.shape[0] != 1)
    return false;
  t.shape.erase(t.shape.begin());
  return true;
}

bool splitHeads(llvm::ArrayRef<int64_t> like, NamedTensor &t) {
  if (t.shape.size() != 2 || like.size() != 3 || like[2] == 0 || t.shape[1] % like[2] != 0)
    return false;
  t.shape = {t.shape[0], t.shape[1] / like[2], like[2]};
  return true;
}

bool headsSecond(llvm::ArrayRef<int64_t>, NamedTensor &t) {
  if (t.shape.size() != 3)
    return false;
  int64_t heads = t.shape[0], tokens = t.shape[1], d = t.shape[2];
  std::vector<float> turned(t.data.size());
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < tokens; ++i)
      std::copy_n(&t.data[(h * tokens + i) * d], d, &turned[(i * heads + h) * d]);
  t.data = std::move(turned);
  std::swap(t.shape[0], t.shape[1]);
  return true;
}

bool halvesToPairs(llvm::ArrayRef<int64_t>, NamedTensor &t) {
  if (t.shape.size() != 3 || t.shape[2] % 2 != 0)
    return false;
  int64_t d = t.shape[2];
  std::vector<float> pairs(d);
  for (size_t at = 0; at < t.data.size(); at += d) {
    for (int64_t i = 0; i < d / 2; ++i)
      pairs[2 * i] = t.data[at + i], pairs[2 * i + 1] = t.data[at + d / 2 + i];
    std::copy(pairs.begin(), pairs.end(), t.data.begin() + at);
  }
  return true;
}

bool lastRow(llvm::ArrayRef<int64_t>, NamedTensor &t) {
  if (t.shape.empty() || t.shape[0] == 0)
    return false;
  t.data.erase(t.data.begin(), t.data.end() - t.data.size() / t.shape[0]);
  t.shape[0] = 1;
  return true;
}

constexpr struct {
  llvm::StringLiteral name;
  Transform apply;
} transforms[] = {{"drop_batch", dropBatch},
                  {"split_heads", splitHeads},
                  {"heads_second", headsSecond},
                  {"halves_to_pairs", halvesToPairs},
                  {"last_row", lastRow}};

} // namespace

llvm::Error applyTransform(llvm::StringRef transform, llvm::ArrayRef<int64_t> like,
                           NamedTensor &t) {
  for (const auto &known : transforms) {
    if (known.name != transform)
      continue;
    if (known.apply(like, t))
      return llvm::Error::success();
    return llvm::createStringError("%s does not fit the shape %s", transform.str().c_str(),
                                   shapeText(t.shape).c_str());
  }
  return llvm::createStringError("unknown transform '%s'", transform.str().c_str());
}

static llvm::Error failure(const TensorFile &file, llvm::StringRef name, const llvm::Twine &what) {
  return llvm::createStringError(file.path() + ": " + name + ": " + what);
}

llvm::Expected<NamedTensor> readTransformed(const TensorFile &file, llvm::StringRef name,
                                            llvm::ArrayRef<int64_t> like,
                                            std::vector<std::string> &applied) {
  auto t = file.read(name);
  if (!t)
    return t.takeError();
  llvm::SmallVector<llvm::StringRef> wanted;
  file.metadata(("transforms:" + name).str()).split(wanted, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef transform : wanted) {
    if (llvm::Error error = applyTransform(transform, like, *t))
      return failure(file, name, llvm::toString(std::move(error)));
    applied.push_back(transform.str());
  }
  return t;
}

llvm::Expected<NamedTensor> readReference(const TensorFile &reference, llvm::StringRef name,
                                          llvm::ArrayRef<int64_t> shape,
                                          std::vector<std::string> &applied) {
  auto t = readTransformed(reference, name, shape, applied);
  if (!t)
    return t.takeError();
  bool cut = !shape.empty() && shape[0] == 1 && !name.ends_with("_cache");
  if (cut && t->shape.size() == shape.size() && t->shape[0] > 1) {
    if (llvm::Error error = applyTransform("last_row", shape, *t))
      return failure(reference, name, llvm::toString(std::move(error)));
    applied.push_back("last_row");
  }
  if (llvm::ArrayRef(t->shape) != shape)
    return failure(reference, name,
                   "its shape is " + shapeText(t->shape) + ", ours is " + shapeText(shape) +
                       ": was it made from the same tokens?");
  auto bad = llvm::find_if(t->data, [](float v) { return std::isnan(v); });
  if (bad != t->data.end())
    return failure(reference, name,
                   "holds NaN, the first at element " + llvm::Twine(bad - t->data.begin()) +
                       ": the reference itself went wrong before that");
  return t;
}

llvm::Expected<Aligned> align(const TensorFile &ours, const TensorFile &reference,
                              llvm::StringRef name) {
  Aligned pair;
  auto own = ours.read(name);
  if (!own)
    return own.takeError();
  pair.ours = std::move(*own);
  auto theirs = readReference(reference, name, pair.ours.shape, pair.transforms);
  if (!theirs)
    return theirs.takeError();
  pair.theirs = std::move(*theirs);
  return pair;
}

llvm::Expected<std::vector<int32_t>> idsOf(const TensorFile &file) {
  std::vector<int32_t> ids;
  llvm::SmallVector<llvm::StringRef> texts;
  file.metadata("ids").split(texts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef text : texts)
    if (text.trim().getAsInteger(10, ids.emplace_back()))
      return llvm::createStringError(file.path() + ": its metadata 'ids' is no list of numbers");
  return ids;
}

} // namespace vetro
