// Reading of safetensors. Nothing of the header is believed before it was checked.
#include "runtime/trace/TensorFile.h"
#include "runtime/abi/Float.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

namespace vetro {
namespace {

using Json = nlohmann::json;

constexpr uint64_t maxHeaderBytes = 100'000'000; // as the format's own reader

template <typename T> float number(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return static_cast<float>(value);
}
float half(const char *at) {
  uint16_t bits;
  std::memcpy(&bits, at, 2);
  return f16ToFloat(bits);
}
float brain(const char *at) {
  uint16_t bits;
  std::memcpy(&bits, at, 2);
  return bf16ToFloat(bits);
}

struct ElementType {
  const char *name;
  unsigned bytes;
  float (*toFloat)(const char *);
};
constexpr ElementType elementTypes[] = {
    {"F32", 4, number<float>},    {"F64", 8, number<double>},   {"F16", 2, half},
    {"BF16", 2, brain},           {"I64", 8, number<int64_t>},  {"I32", 4, number<int32_t>},
    {"I16", 2, number<int16_t>},  {"I8", 1, number<int8_t>},    {"U64", 8, number<uint64_t>},
    {"U32", 4, number<uint32_t>}, {"U16", 2, number<uint16_t>}, {"U8", 1, number<uint8_t>},
    {"BOOL", 1, number<uint8_t>}};

const ElementType *findType(llvm::StringRef name) {
  auto found = llvm::find_if(elementTypes, [&](const ElementType &t) { return name == t.name; });
  return found == std::end(elementTypes) ? nullptr : found;
}

/// Refuses a key that an object has twice, which a parser would pass over in silence.
class UniqueKeys {
public:
  bool operator()(int, Json::parse_event_t event, Json &value) {
    if (event == Json::parse_event_t::object_start)
      open.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      open.pop_back();
    else if (event == Json::parse_event_t::key && !open.back().insert(value).second)
      twice = value;
    return true;
  }
  std::string twice;

private:
  std::vector<std::set<std::string>> open;
};

/// A list of whole numbers, none below 0; false where it is something else.
bool readNumbers(const Json &from, std::vector<int64_t> &to) {
  if (!from.is_array())
    return false;
  for (const Json &n : from) {
    if (!n.is_number_unsigned() || n.get<uint64_t>() > INT64_MAX)
      return false;
    to.push_back(n.get<int64_t>());
  }
  return true;
}

/// Bytes that shape and type want; false where they are more than 2^64.
bool sizeOf(const TensorEntry &entry, const ElementType &type, uint64_t &bytes) {
  bytes = type.bytes;
  for (int64_t d : entry.shape) {
    bool tooMany = false;
    bytes = llvm::SaturatingMultiply(bytes, uint64_t(d), &tooMany);
    if (tooMany)
      return false;
  }
  return true;
}

/// One tensor of the header. Empty: sound; else what is wrong.
std::string readEntry(const Json &json, TensorEntry &entry) {
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets"))
    return "has no dtype, shape and data_offsets";
  const Json &dtype = json["dtype"];
  const ElementType *type =
      dtype.is_string() ? findType(dtype.get_ref<const std::string &>()) : nullptr;
  if (!type)
    return "has the type " + printable(dtype.dump(-1, ' ', true, Json::error_handler_t::replace)) +
           ", known are F64 F32 F16 BF16, I8 to I64, U8 to U64 and BOOL";
  entry.dtype = type->name;
  std::vector<int64_t> offsets;
  if (!readNumbers(json["shape"], entry.shape) || entry.shape.size() > 16)
    return "has a shape that is no list of at most 16 whole numbers";
  if (!readNumbers(json["data_offsets"], offsets) || offsets.size() != 2 || offsets[0] > offsets[1])
    return "has data_offsets that are not [begin, end]";
  entry.offset = offsets[0], entry.sizeBytes = offsets[1] - offsets[0];
  uint64_t wanted;
  if (!sizeOf(entry, *type, wanted) || wanted != entry.sizeBytes)
    return "has " + std::to_string(entry.sizeBytes) + " bytes, which its shape and type do not";
  return "";
}

} // namespace

llvm::Expected<std::unique_ptr<TensorFile>> TensorFile::open(llvm::StringRef path) {
  auto bytes = Bytes::ofFile(path);
  if (!bytes)
    return bytes.takeError();
  std::unique_ptr<TensorFile> f(new TensorFile());
  f->bytes = std::move(*bytes);
  if (llvm::Error error = f->readHeader())
    return std::move(error);
  return f;
}

llvm::Error TensorFile::readHeader() {
  uint64_t length = 0, fileBytes = bytes->size();
  if (fileBytes < 8)
    return error("is " + llvm::Twine(fileBytes) + " bytes, a safetensors file has at least 8");
  if (llvm::Error error = bytes->read(0, &length, 8))
    return error;
  if (length > maxHeaderBytes)
    return error("its first 8 bytes announce a header of " + llvm::Twine(length) +
                 " bytes, at most 100000000 are read: is it a safetensors file?");
  if (length > fileBytes - 8)
    return error("its header of " + llvm::Twine(length) + " bytes does not fit its " +
                 llvm::Twine(fileBytes) + " bytes: is it whole?");
  std::string text(length, '\0');
  if (llvm::Error error = bytes->read(8, text.data(), length))
    return error;
  if (llvm::Error error = parseHeader(text, fileBytes - 8 - length))
    return error;
  for (TensorEntry &entry : list)
    entry.offset += 8 + length;
  return llvm::Error::success();
}

llvm::Error TensorFile::parseHeader(llvm::StringRef text, uint64_t dataBytes) {
  UniqueKeys keys;
  Json header = Json::parse(text, std::ref(keys), /*allow_exceptions=*/false);
  if (header.is_discarded() || !header.is_object())
    return error("its header is no JSON object: is it a safetensors file?");
  if (!keys.twice.empty())
    return error("its header has the key " + printable(keys.twice) + " twice");
  for (auto &[key, value] : header.items()) {
    if (key != "__metadata__") {
      list.emplace_back().name = key;
      if (std::string wrong = readEntry(value, list.back()); !wrong.empty())
        return error("tensor " + printable(key) + " " + wrong);
      continue;
    }
    for (auto &[name, entry] : value.items()) {
      if (!entry.is_string())
        return error("its __metadata__ is not of texts only");
      pairs[name] = entry;
    }
  }
  llvm::sort(list, [](const TensorEntry &a, const TensorEntry &b) {
    return std::tie(a.offset, a.sizeBytes, a.name) < std::tie(b.offset, b.sizeBytes, b.name);
  });
  for (auto [i, entry] : llvm::enumerate(list))
    index[entry.name] = i;
  return checkRanges(dataBytes);
}

llvm::Error TensorFile::checkRanges(uint64_t dataBytes) const {
  uint64_t end = 0;
  for (const TensorEntry &entry : list) {
    if (entry.offset != end)
      return error("tensor " + printable(entry.name) + " begins at byte " +
                   llvm::Twine(entry.offset) + " of the data, the one before it ends at " +
                   llvm::Twine(end));
    end = entry.offset + entry.sizeBytes;
  }
  if (end > dataBytes)
    return error("its tensors need " + llvm::Twine(end) + " bytes of data, it has " +
                 llvm::Twine(dataBytes) + ": is it whole?");
  if (end < dataBytes)
    return error("has " + llvm::Twine(dataBytes - end) + " bytes after its last tensor");
  return llvm::Error::success();
}

const TensorEntry *TensorFile::find(llvm::StringRef tensor) const {
  auto found = index.find(tensor);
  return found == index.end() ? nullptr : &list[found->second];
}

llvm::StringRef TensorFile::metadata(llvm::StringRef key) const {
  auto found = pairs.find(key.str());
  return found == pairs.end() ? llvm::StringRef() : llvm::StringRef(found->second);
}

llvm::Expected<NamedTensor> TensorFile::read(llvm::StringRef tensor) const {
  const TensorEntry *entry = find(tensor);
  if (!entry)
    return error("has no tensor " + printable(tensor));
  const ElementType &type = *findType(entry->dtype);
  std::string data(entry->sizeBytes, '\0');
  if (llvm::Error error = bytes->read(entry->offset, data.data(), data.size()))
    return std::move(error);
  NamedTensor out{entry->name, entry->shape, std::vector<float>(data.size() / type.bytes)};
  for (auto [i, value] : llvm::enumerate(out.data))
    value = type.toFloat(&data[i * type.bytes]);
  return out;
}

} // namespace vetro
