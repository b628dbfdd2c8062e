// Typed access to metadata.
#include "frontends/Metadata.h"

#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace vetro {

Metadata::Metadata(ModuleOp module)
    : values(module->getAttrOfType<DictionaryAttr>("vetro.metadata")) {
  if (!values)
    values = DictionaryAttr::get(module.getContext());
  if (auto name = dyn_cast_or_null<StringAttr>(find("general.architecture")))
    archName = name.str();
}

std::string Metadata::full(StringRef key) const {
  return key.starts_with(".") ? archName + key.str() : key.str();
}

Attribute Metadata::find(StringRef key) const {
  std::string name = full(key);
  used.insert(name);
  return values.get(name);
}

void Metadata::fail(StringRef key, const Twine &found, const Twine &expected) {
  if (error.empty())
    error = ("key '" + full(key) + "': " + found + "; expected " + expected +
             "; set it with --override-kv " + full(key) + "=TYPE:VALUE")
                .str();
}

llvm::Error Metadata::takeError() {
  if (error.empty())
    return llvm::Error::success();
  return llvm::createStringError(std::exchange(error, ""));
}

int64_t Metadata::check(StringRef key, Attribute value, int64_t low, int64_t high) {
  auto range = [&] { return "an integer in " + Twine(low).str() + ".." + Twine(high).str(); };
  auto integer = dyn_cast_or_null<IntegerAttr>(value);
  if (!integer) {
    std::string found = "missing";
    if (value) {
      llvm::raw_string_ostream out(found = "found ");
      value.print(out);
    }
    fail(key, found, range());
    return low;
  }
  int64_t v = integer.getType().isSignedInteger()     ? integer.getSInt()
              : integer.getType().isUnsignedInteger() ? int64_t(integer.getUInt())
                                                      : integer.getInt();
  if (v < low || v > high) {
    fail(key, "found " + Twine(v).str(), range());
    return low;
  }
  return v;
}

int64_t Metadata::integer(StringRef key, int64_t low, int64_t high) {
  return check(key, find(key), low, high);
}

int64_t Metadata::integerOr(StringRef key, int64_t fallback, int64_t low, int64_t high) {
  Attribute value = find(key);
  return value ? check(key, value, low, high) : fallback;
}

std::vector<int64_t> Metadata::perLayer(StringRef key, int64_t layers,
                                        std::optional<int64_t> fallback, int64_t low,
                                        int64_t high) {
  Attribute value = find(key);
  if (!value && fallback)
    return std::vector<int64_t>(layers, *fallback);
  auto array = dyn_cast_or_null<ArrayAttr>(value);
  if (!array)
    return std::vector<int64_t>(layers, check(key, value, low, high));
  std::vector<int64_t> result(layers, low);
  if (int64_t(array.size()) != layers) {
    fail(key, "found " + Twine(array.size()).str() + " elements",
         "one for each of " + Twine(layers).str() + " layers");
    return result;
  }
  for (int64_t i = 0; i < layers; ++i)
    result[i] = check(key, array[i], low, high);
  return result;
}

float Metadata::number(StringRef key, double low, double high) {
  auto value = dyn_cast_or_null<FloatAttr>(find(key));
  auto range = [&] { return llvm::formatv("a number in ({0:g}, {1:g}]", low, high).str(); };
  if (!value) {
    fail(key, has(key) ? "not a float" : "missing", range());
    return high;
  }
  double v = value.getValueAsDouble();
  if (!(v > low && v <= high)) {
    fail(key, llvm::formatv("found {0:g}", v).str(), range());
    return high;
  }
  return float(v);
}

float Metadata::numberOr(StringRef key, float fallback, double low, double high) {
  return find(key) ? number(key, low, high) : fallback;
}

std::string Metadata::textOr(StringRef key, StringRef fallback) {
  Attribute value = find(key);
  if (!value)
    return fallback.str();
  if (auto text = dyn_cast<StringAttr>(value))
    return text.str();
  fail(key, "not a string", "a string");
  return fallback.str();
}

std::vector<std::string> Metadata::unusedKeys() const {
  std::vector<std::string> names;
  for (NamedAttribute entry : values)
    if (entry.getName().strref().starts_with(archName + ".") && !used.contains(entry.getName()))
      names.push_back(entry.getName().str());
  return names;
}

} // namespace vetro
