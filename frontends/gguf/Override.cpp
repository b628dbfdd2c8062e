// Parsing of metadata overrides.
#include "frontends/gguf/Override.h"
#include "llvm/ADT/Twine.h"
#include <cmath>

namespace vetro::gguf {

using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static llvm::Error bad(StringRef spec, const Twine &what) {
  return llvm::make_error<GgufError>(ErrorKind::Override,
                                     ("override " + escaped(spec) + ": " + what).str());
}

/// Whether an integer of `bits` bits, signed or not, holds the number.
static bool fits(ValueType type, bool negative, uint64_t magnitude) {
  unsigned bits = valueTypeSize(type) * 8;
  bool isSigned = type == ValueType::I8 || type == ValueType::I16 || type == ValueType::I32 ||
                  type == ValueType::I64;
  uint64_t top = UINT64_MAX >> (64 - bits + (isSigned ? 1 : 0));
  return negative ? isSigned && magnitude <= top + 1 : magnitude <= top;
}

/// The integer type for TYPE `int`: the existing value's (an array's elements'), else the usual.
static Expected<ValueType> typeOfInt(StringRef spec, const Value *existing, bool negative,
                                     uint64_t magnitude) {
  if (existing && isInteger(existing->elementType()))
    return existing->elementType();
  if (existing)
    return bad(spec, "the file has " + existing->typeName() + " there; use \"" +
                         valueTypeName(existing->elementType()) +
                         ":\", or \"u32:\" to change the type");
  if (!negative)
    return magnitude <= UINT32_MAX ? ValueType::U32 : ValueType::U64;
  return fits(ValueType::I32, true, magnitude) ? ValueType::I32 : ValueType::I64;
}

static Expected<Value> parseInt(StringRef spec, StringRef text, std::optional<ValueType> type,
                                const Value *existing) {
  StringRef digits = text;
  bool negative = digits.consume_front("-");
  uint64_t magnitude;
  if (digits.getAsInteger(10, magnitude))
    return bad(spec, escaped(text) + " is no integer; write for example 32");
  if (!type) {
    Expected<ValueType> chosen = typeOfInt(spec, existing, negative, magnitude);
    if (!chosen)
      return chosen.takeError();
    type = *chosen;
  }
  if (!fits(*type, negative, magnitude))
    return bad(spec, escaped(text) + " does not fit in " + valueTypeName(*type));
  uint64_t bits = negative ? 0 - magnitude : magnitude;
  unsigned width = valueTypeSize(*type) * 8;
  return Value::scalar(*type, width == 64 ? bits : bits & ((uint64_t(1) << width) - 1));
}

static Expected<Value> parseFloat(StringRef spec, StringRef text, std::optional<ValueType> type,
                                  const Value *existing) {
  double value;
  if (text.getAsDouble(value) || !std::isfinite(value))
    return bad(spec, escaped(text) + " is no finite number; write for example 1e-5");
  bool wide = existing && existing->elementType() == ValueType::F64;
  ValueType chosen = type ? *type : wide ? ValueType::F64 : ValueType::F32;
  if (chosen == ValueType::F64)
    return Value::scalar(chosen, std::bit_cast<uint64_t>(value));
  auto narrow = static_cast<float>(value);
  if (!std::isfinite(narrow))
    return bad(spec, escaped(text) + " does not fit in f32");
  return Value::scalar(chosen, std::bit_cast<uint32_t>(narrow));
}

static Expected<Value> parseValue(StringRef spec, StringRef typeName, StringRef text,
                                  const Value *existing) {
  if (typeName == "int")
    return parseInt(spec, text, std::nullopt, existing);
  if (typeName == "float")
    return parseFloat(spec, text, std::nullopt, existing);
  std::optional<ValueType> type = valueTypeByName(typeName);
  if (!type || *type == ValueType::Array)
    return bad(spec, "type " + escaped(typeName) +
                         " is unknown, expected int, float, bool, str, u8 ... i64, f32 or f64");
  if (isInteger(*type))
    return parseInt(spec, text, type, existing);
  if (isFloat(*type))
    return parseFloat(spec, text, type, existing);
  if (*type == ValueType::String)
    return Value::string(text);
  if (text != "true" && text != "false")
    return bad(spec, escaped(text) + " is no bool, expected true or false");
  return Value::scalar(ValueType::Bool, text == "true");
}

Expected<Override> parseOverride(StringRef spec,
                                 llvm::function_ref<const Value *(StringRef)> find) {
  auto [key, rest] = spec.split('=');
  auto [type, text] = rest.split(':');
  if (key.empty() || type.size() == rest.size())
    return bad(spec, "expected KEY=TYPE:VALUE, for example llama.context_length=int:4096");
  if (key == "general.alignment" || key.starts_with("split."))
    return bad(spec,
               "key " + escaped(key) + " says how the file is laid out and cannot be overridden");
  Override result{.key = key.str(), .value = {}, .text = std::make_unique<std::string>(text)};
  Expected<Value> value = parseValue(spec, type, *result.text, find(key));
  if (!value)
    return value.takeError();
  result.value = std::move(*value);
  return result;
}

} // namespace vetro::gguf
