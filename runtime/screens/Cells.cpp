// Numbers as text.
#include "runtime/screens/Cells.h"

#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace vetro::screens {

Cell text(llvm::StringRef words, Tone tone) { return {shown(words), tone}; }

Cell heading(llvm::StringRef words, bool right) { return {shown(words), Tone::Dim, right}; }

std::string numberText(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.5g", value);
  return buffer;
}

std::string bytesText(double bytes) {
  static constexpr const char *units[] = {"B", "kB", "MB", "GB", "TB"};
  unsigned unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit)
    bytes /= 1000;
  return llvm::formatv(unit ? "{0:f1} {1}" : "{0:f0} {1}", bytes, units[unit]).str();
}

/// The place of the document; null where it has none.
static const Json *at(const Json &document, const std::string &pointer) {
  Json::json_pointer place(pointer);
  return document.contains(place) ? &document[place] : nullptr;
}

static Cell datum(const std::string &pointer, const Json &value, std::string text) {
  return {.text = std::move(text),
          .right = value.is_number(),
          .data = {{"trace.json", pointer, value}}};
}

Cell fact(const Json &document, const std::string &pointer, Tone tone) {
  const Json *value = at(document, pointer);
  if (!value)
    return {};
  std::string words = value->is_string()         ? shown(value->get_ref<const std::string &>())
                      : value->is_number_float() ? numberText(value->get<double>())
                                                 : shown(value->dump());
  Cell cell = datum(pointer, *value, std::move(words));
  cell.tone = tone;
  return cell;
}

Cell bytesFact(const Json &document, const std::string &pointer) {
  const Json *value = at(document, pointer);
  return value ? datum(pointer, *value, bytesText(value->get<double>())) : Cell();
}

Cell shareFact(const Json &document, const std::string &pointer) {
  const Json *value = at(document, pointer);
  return value ? datum(pointer, *value, llvm::formatv("{0:f2} %", value->get<double>() * 100).str())
               : Cell();
}

Cell number(llvm::StringRef name, llvm::StringRef index, double value) {
  return {.text = numberText(value), .right = true, .data = {{name.str(), index.str(), value}}};
}

// ---- values ----

Statistics Statistics::of(llvm::ArrayRef<float> numbers, unsigned nBins) {
  Statistics s;
  s.bins.resize(nBins);
  double sum = 0, squares = 0;
  uint64_t n = 0;
  for (float x : numbers) {
    if (!std::isfinite(x)) {
      ++s.nans;
      continue;
    }
    s.min = n ? std::min<double>(s.min, x) : x;
    s.max = n ? std::max<double>(s.max, x) : x;
    sum += x, squares += double(x) * x, ++n;
  }
  if (n)
    s.mean = sum / double(n), s.rms = std::sqrt(squares / double(n));
  for (float x : numbers)
    if (std::isfinite(x)) {
      double place = s.max > s.min ? (x - s.min) / (s.max - s.min) : 0;
      ++s.bins[std::min<size_t>(size_t(place * nBins), nBins - 1)];
    }
  return s;
}

/// "▁▃█▃▁": one character a bin.
static Cell histogram(llvm::StringRef name, const Statistics &s) {
  static constexpr const char *levels[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  uint64_t most = std::max<uint64_t>(1, *llvm::max_element(s.bins));
  Cell cell;
  for (auto [i, n] : llvm::enumerate(s.bins)) {
    cell.text += levels[(n * 8 + most - 1) / most];
    cell.data.push_back({name.str(), "bin." + std::to_string(i), n});
  }
  return cell;
}

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string words;
  for (int64_t d : shape)
    words += (words.empty() ? "" : " x ") + std::to_string(d);
  return words;
}

/// The first and the last numbers of a row, each with its place.
static Cell ends(const HookValue &value) {
  constexpr size_t nEnd = 3;
  llvm::ArrayRef<float> numbers = value.tensor.data;
  Cell cell;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers.size() > 2 * nEnd && i == nEnd) {
      cell.text += " …";
      i = numbers.size() - nEnd;
    }
    cell.text += (cell.text.empty() ? "" : " ") + numberText(numbers[i]);
    cell.data.push_back({value.tensor.name, std::to_string(i), numbers[i]});
  }
  return cell;
}

Row valueHeader() {
  return {heading("value"),     heading(""),
          heading("shape"),     heading("min", true),
          heading("max", true), heading("mean", true),
          heading("rms", true), heading("not finite", true),
          heading("histogram"), heading("first and last")};
}

Row valueRow(const HookValue &value) {
  const std::string &name = value.tensor.name;
  Cell title = text(name, Tone::Strong);
  title.target = name;
  if (value.tensor.data.empty())
    return {title, text("not kept", Tone::Dim)};
  Statistics s = Statistics::of(value.tensor.data);
  Cell nans = number(name, "nans", double(s.nans));
  nans.tone = s.nans ? Tone::Bad : Tone::Dim;
  return {title,
          text(value.label, value.label == "ran" ? Tone::Good : Tone::Accent),
          text(shapeText(value.tensor.shape)),
          number(name, "min", s.min),
          number(name, "max", s.max),
          number(name, "mean", s.mean),
          number(name, "rms", s.rms),
          nans,
          histogram(name, s),
          ends(value)};
}

} // namespace vetro::screens
