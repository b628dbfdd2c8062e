// Reading of safetensors. Nothing of the header is believed before it was checked.
#include "runtime/trace/Elements.h"
#include "runtime/trace/TensorTable.h"

#include "llvm/ADT/STLExtras.h"
#include <nlohmann/json.hpp>
#include <set>

namespace vetro {
namespace {

using Json = nlohmann::json;

constexpr uint64_t maxHeaderBytes = 100'000'000; // as the format's own reader

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

/// One tensor of the header. Empty: sound; else what is wrong.
std::string parseEntry(const Json &json, TensorEntry &entry) {
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets"))
    return "has no dtype, shape and data_offsets";
  const Json &dtype = json["dtype"];
  const ElementType *type =
      dtype.is_string() ? findElementType(dtype.get_ref<const std::string &>()) : nullptr;
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
  if (!fits(entry.shape, type->bytes, entry.sizeBytes))
    return "has " + std::to_string(entry.sizeBytes) + " bytes, which its shape and type do not";
  return "";
}

llvm::Error checkRanges(const Bytes &file, llvm::ArrayRef<TensorEntry> list, uint64_t dataBytes) {
  uint64_t end = 0;
  for (const TensorEntry &entry : list) {
    if (entry.offset != end)
      return file.error("tensor " + printable(entry.name) + " begins at byte " +
                        llvm::Twine(entry.offset) + " of the data, the one before it ends at " +
                        llvm::Twine(end));
    end = entry.offset + entry.sizeBytes;
  }
  if (end > dataBytes)
    return file.error("its tensors need " + llvm::Twine(end) + " bytes of data, it has " +
                      llvm::Twine(dataBytes) + ": is it whole?");
  if (end < dataBytes)
    return file.error("has " + llvm::Twine(dataBytes - end) + " bytes after its last tensor");
  return llvm::Error::success();
}

llvm::Error parseHeader(const Bytes &file, llvm::StringRef text, uint64_t dataBytes,
                        TensorTable &table) {
  UniqueKeys keys;
  Json header = Json::parse(text, std::ref(keys), /*allow_exceptions=*/false);
  if (header.is_discarded() || !header.is_object())
    return file.error("its header is no JSON object: is it a safetensors file?");
  if (!keys.twice.empty())
    return file.error("its header has the key " + printable(keys.twice) + " twice");
  for (auto &[key, value] : header.items()) {
    if (key != "__metadata__") {
      table.entries.emplace_back().name = key;
      if (std::string wrong = parseEntry(value, table.entries.back()); !wrong.empty())
        return file.error("tensor " + printable(key) + " " + wrong);
      continue;
    }
    for (auto &[name, entry] : value.items()) {
      if (!entry.is_string())
        return file.error("its __metadata__ is not of texts only");
      table.metadata[name] = entry;
    }
  }
  llvm::sort(table.entries, [](const TensorEntry &a, const TensorEntry &b) {
    return std::tie(a.offset, a.sizeBytes, a.name) < std::tie(b.offset, b.sizeBytes, b.name);
  });
  return checkRanges(file, table.entries, dataBytes);
}

} // namespace

llvm::Error readSafetensors(std::shared_ptr<const Bytes> file, TensorTable &table) {
  uint64_t length = 0, fileBytes = file->size();
  if (fileBytes < 8)
    return file->error("is " + llvm::Twine(fileBytes) +
                       " bytes, a safetensors file has at least 8");
  if (llvm::Error error = file->read(0, &length, 8))
    return error;
  if (length > maxHeaderBytes)
    return file->error("its first 8 bytes announce a header of " + llvm::Twine(length) +
                       " bytes, at most 100000000 are read: is it a safetensors file?");
  if (length > fileBytes - 8)
    return file->error("its header of " + llvm::Twine(length) + " bytes does not fit its " +
                       llvm::Twine(fileBytes) + " bytes: is it whole?");
  std::string text(length, '\0');
  if (llvm::Error error = file->read(8, text.data(), length))
    return error;
  if (llvm::Error error = parseHeader(*file, text, fileBytes - 8 - length, table))
    return error;
  for (TensorEntry &entry : table.entries)
    entry.offset += 8 + length, entry.bytes = file;
  return llvm::Error::success();
}

} // namespace vetro
