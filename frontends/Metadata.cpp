// Typed access to metadata.
#include "frontends/Metadata.h"

#include "frontends/gguf/GgufError.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace vetro {

Metadata::Metadata(ModuleOp module)
    : values(module->getAttrOfType<DictionaryAttr>("vetro.metadata")) {
  if (!values)
    values = DictionaryAttr::get(module.getContext());
  archName = text("general.architecture");
}

int64_t Metadata::layers() const {
  auto count = values.getAs<IntegerAttr>(full(".block_count"));
  return count ? count.getValue().getSExtValue() : 0;
}

std::string Metadata::full(StringRef key) const {
  return key.starts_with(".") ? archName + key.str() : key.str();
}

Attribute Metadata::find(StringRef key) const {
  std::string name = full(key);
  used.insert(name);
  return values.get(name);
}

void Metadata::fail(StringRef key, const Twine &found, const Twine &expected, StringRef type) {
  if (error.empty())
    error = ("key '" + full(key) + "': " + found + "; expected " + expected +
             "; set it with --override-kv " + full(key) + "=" + type + ":VALUE")
                .str();
}

static std::string shortest(double v) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", v);
  return text;
}

/// "found VALUE", the file's text escaped and cut.
static std::string foundText(Attribute value) {
  if (auto text = dyn_cast<StringAttr>(value))
    return "found " + gguf::escaped(text.getValue());
  if (auto array = dyn_cast<ArrayAttr>(value))
    return "found an array of " + std::to_string(array.size()) + " elements";
  if (auto flag = dyn_cast<BoolAttr>(value))
    return flag.getValue() ? "found true" : "found false";
  if (auto number = dyn_cast<FloatAttr>(value))
    return "found the float " + shortest(number.getValueAsDouble());
  return "found the integer " + llvm::toString(cast<IntegerAttr>(value).getValue(), 10,
                                               /*Signed=*/true);
}

llvm::Error Metadata::takeError() {
  if (error.empty())
    return llvm::Error::success();
  return llvm::createStringError(std::exchange(error, ""));
}

int64_t Metadata::check(StringRef key, Attribute value, int64_t low, int64_t high) {
  auto range = [&] { return "an integer in " + Twine(low).str() + ".." + Twine(high).str(); };
  auto integer = dyn_cast_or_null<IntegerAttr>(value);
  if (!integer || isa<BoolAttr>(value)) {
    fail(key, value ? foundText(value) : "missing", range(), "u32");
    return low;
  }
  int64_t v = integer.getType().isSignedInteger()     ? integer.getSInt()
              : integer.getType().isUnsignedInteger() ? int64_t(integer.getUInt())
                                                      : integer.getInt();
  if (v < low || v > high) {
    fail(key, "found " + Twine(v).str(), range(), "u32");
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
  Attribute found = find(key);
  auto value = dyn_cast_or_null<FloatAttr>(found);
  auto range = [&] { return "a number in (" + shortest(low) + ", " + shortest(high) + "]"; };
  if (!value) {
    fail(key, found ? foundText(found) : "missing", range(), "f32");
    return high;
  }
  double v = value.getValueAsDouble();
  if (!(v > low && v <= high)) {
    fail(key, "found " + shortest(v), range(), "f32");
    return high;
  }
  return float(v);
}

float Metadata::numberOr(StringRef key, float fallback, double low, double high) {
  return find(key) ? number(key, low, high) : fallback;
}

std::string Metadata::text(StringRef key) {
  if (!find(key))
    fail(key, "missing", "a string", "str");
  return textOr(key, "");
}

std::string Metadata::textOr(StringRef key, StringRef fallback) {
  Attribute value = find(key);
  if (!value)
    return fallback.str();
  if (auto text = dyn_cast<StringAttr>(value))
    return text.str();
  fail(key, foundText(value), "a string", "str");
  return fallback.str();
}

void Metadata::warn(StringRef key, const Twine &what) {
  warned.push_back("key '" + full(key) + "': " + what.str());
}

std::vector<std::string> Metadata::unusedKeys() const {
  std::vector<std::string> names;
  for (NamedAttribute entry : values)
    if (entry.getName().strref().starts_with(archName + ".") && !used.contains(entry.getName()))
      names.push_back(entry.getName().str());
  return names;
}

} // namespace vetro
