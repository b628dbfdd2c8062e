// Header, metadata and tensor table of one GGUF file, in file order.
#include "frontends/gguf/Parse.h"
#include "frontends/gguf/Cursor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/MathExtras.h"

namespace vetro::gguf {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace {

/// Smallest records: an empty key or name, and the smallest value or one dimension.
constexpr uint64_t minKeyBytes = 8 + 1 + 4 + 1;
constexpr uint64_t minTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;
constexpr uint64_t maxKeyLength = 65535; // the specification's bound
constexpr uint64_t maxNameLength = 63;   // ggml keeps 64 bytes with a closing zero
constexpr uint64_t maxAlignment = 65536;

class Parser {
public:
  Parser(HeaderBuffer &buffer, StringRef path, const OpenOptions &options)
      : cursor_(buffer, path), path_(path), buffer_(buffer), options_(options) {}

  Expected<Head> run();

private:
  Error readHeader();
  Error checkCounts();
  Error readKeys();
  Error readKey(uint64_t number);
  Expected<Value> readValue(uint32_t type, const Twine &what);
  Expected<Value> readArray(const Twine &what);
  Expected<Value> readStrings(uint64_t count, const Twine &what);
  Error readAlignment();
  Error readTensors();
  Error readTensor(uint64_t number);
  Error readDimensions(TensorInfo &tensor);
  Error readTensorType(TensorInfo &tensor);
  Error error(ErrorKind kind, uint64_t offset, const Twine &what) {
    return makeError(kind, path_, offset, what);
  }

  Cursor cursor_;
  StringRef path_;
  HeaderBuffer &buffer_;
  const OpenOptions &options_;
  Head head_;
  uint64_t numKeys_ = 0, numTensors_ = 0;
  llvm::StringMap<uint64_t> keyOffsets_, nameOffsets_;
};

} // namespace

static bool isUtf8(StringRef text) {
  const auto *at = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  return llvm::isLegalUTF8String(&at, reinterpret_cast<const llvm::UTF8 *>(text.end()));
}

Expected<Head> Parser::run() {
  if (Error e = readHeader())
    return e;
  if (Error e = checkCounts())
    return e;
  if (Error e = readKeys())
    return e;
  if (Error e = readAlignment())
    return e;
  if (Error e = readTensors())
    return e;
  head_.endOffset = cursor_.offset();
  head_.dataOffset = llvm::alignTo(head_.endOffset, head_.alignment);
  return std::move(head_);
}

Error Parser::readHeader() {
  constexpr uint64_t headerBytes = 24;
  uint64_t size = buffer_.fileBytes();
  StringRef magic(reinterpret_cast<const char *>(cursor_.take(std::min<uint64_t>(size, 4))),
                  std::min<uint64_t>(size, 4));
  if (cursor_.failed())
    return cursor_.error(ErrorKind::Header, "the magic");
  if (size < headerBytes)
    return error(ErrorKind::Header, 0,
                 "the file is " + Twine(size) + " bytes, a header needs " + Twine(headerBytes) +
                     "; the download may have failed, get it again");
  if (magic != "GGUF")
    return error(ErrorKind::Header, 0,
                 "not a GGUF file: it starts with " + escaped(magic) +
                     ", expected \"GGUF\"; convert the model to GGUF first");
  uint32_t version = cursor_.number<uint32_t>();
  if (version != 0 && (version & 0xffff) == 0)
    return error(ErrorKind::Header, 4,
                 "big-endian file (version bytes " + Twine::utohexstr(version) +
                     "), expected little-endian; convert it with gguf_convert_endian.py");
  if (version != 2 && version != 3)
    return error(ErrorKind::Header, 4,
                 "version " + Twine(version) +
                     " found, versions 2 and 3 are read; convert the model again");
  head_.version = version;
  numTensors_ = cursor_.number<uint64_t>();
  numKeys_ = cursor_.number<uint64_t>();
  return cursor_.failed() ? cursor_.error(ErrorKind::Header, "the header") : Error::success();
}

Error Parser::checkCounts() {
  uint64_t left = cursor_.remaining();
  if (numKeys_ > left / minKeyBytes)
    return error(ErrorKind::Metadata, 16,
                 "count of keys is " + Twine(numKeys_) + ", the " + Twine(left) +
                     " bytes left hold at most " + Twine(left / minKeyBytes) +
                     "; the file is cut or damaged, get it again");
  if (numTensors_ > left / minTensorBytes)
    return error(ErrorKind::TensorTable, 8,
                 "count of tensors is " + Twine(numTensors_) + ", the " + Twine(left) +
                     " bytes left hold at most " + Twine(left / minTensorBytes) +
                     "; the file is cut or damaged, get it again");
  if (options_.ignoreLimits)
    return Error::success();
  if (numKeys_ > maxKeys)
    return error(ErrorKind::Limit, 16,
                 Twine(numKeys_) + " keys found, at most " + Twine(maxKeys) +
                     " are read; allow more with --ignore-limits");
  if (numTensors_ > maxTensors)
    return error(ErrorKind::Limit, 8,
                 Twine(numTensors_) + " tensors found, at most " + Twine(maxTensors) +
                     " are read; allow more with --ignore-limits");
  return Error::success();
}

Error Parser::readKeys() {
  head_.keys.reserve(std::min(numKeys_, maxKeys));
  for (uint64_t i = 0; i < numKeys_; ++i)
    if (Error e = readKey(i))
      return e;
  return Error::success();
}

Error Parser::readKey(uint64_t number) {
  uint64_t start = cursor_.offset();
  StringRef key = cursor_.string();
  if (cursor_.failed())
    return cursor_.error(ErrorKind::Metadata, "key " + Twine(number) + " of " + Twine(numKeys_));
  if (key.empty())
    return error(ErrorKind::Metadata, start,
                 "key " + Twine(number) + " is empty, expected a name; write the file again");
  if (key.size() > maxKeyLength)
    return error(ErrorKind::Limit, start,
                 "key " + escaped(key) + " is longer than " + Twine(maxKeyLength) +
                     " bytes; write the file again");
  if (!isUtf8(key))
    return error(ErrorKind::Metadata, start,
                 "key " + escaped(key) + " is not UTF-8; write the file again");
  auto [it, fresh] = keyOffsets_.try_emplace(key, start);
  if (!fresh)
    return error(ErrorKind::Metadata, start,
                 "key " + escaped(key) + " was given before at byte " + Twine(it->second) +
                     "; expected each key once, remove one");
  std::string what = "value of key " + escaped(key);
  uint32_t type = cursor_.number<uint32_t>();
  if (cursor_.failed())
    return cursor_.error(ErrorKind::Metadata, "value type of key " + escaped(key));
  Expected<Value> value = readValue(type, what);
  if (!value)
    return value.takeError();
  head_.keys.push_back({.key = key, .value = std::move(*value), .offset = start});
  return Error::success();
}

Expected<Value> Parser::readValue(uint32_t type, const Twine &what) {
  uint64_t start = cursor_.offset();
  if (type >= numValueTypes)
    return error(ErrorKind::Metadata, start - 4,
                 what + " has type " + Twine(type) + ", types 0 to " + Twine(numValueTypes - 1) +
                     " are known; the file is damaged or newer than this program");
  auto valueType = static_cast<ValueType>(type);
  if (valueType == ValueType::Array)
    return readArray(what);
  if (valueType == ValueType::String) {
    StringRef text = cursor_.string();
    if (cursor_.failed())
      return cursor_.error(ErrorKind::Metadata, what);
    return Value::string(text);
  }
  uint64_t bits = 0;
  if (const uint8_t *at = cursor_.take(valueTypeSize(valueType)))
    std::memcpy(&bits, at, valueTypeSize(valueType));
  else
    return cursor_.error(ErrorKind::Metadata, what);
  if (valueType == ValueType::Bool && bits > 1)
    return error(ErrorKind::Metadata, start,
                 what + " is a bool with byte " + Twine(bits) +
                     ", expected 0 or 1; write the file again");
  return Value::scalar(valueType, bits);
}

Expected<Value> Parser::readArray(const Twine &what) {
  uint64_t start = cursor_.offset();
  uint32_t type = cursor_.number<uint32_t>();
  uint64_t count = cursor_.number<uint64_t>();
  if (cursor_.failed())
    return cursor_.error(ErrorKind::Metadata, what);
  if (type >= numValueTypes)
    return error(ErrorKind::Metadata, start,
                 what + " has elements of type " + Twine(type) + ", types 0 to " +
                     Twine(numValueTypes - 1) +
                     " are known; the file is damaged or newer than this program");
  auto element = static_cast<ValueType>(type);
  if (element == ValueType::Array)
    return error(ErrorKind::Metadata, start,
                 what + " is an array of arrays, expected an array of numbers or strings; nested "
                        "arrays are not supported, write the file again");
  uint64_t elementBytes = element == ValueType::String ? 8 : valueTypeSize(element);
  if (count > cursor_.remaining() / elementBytes)
    return error(ErrorKind::Metadata, start + 4,
                 what + " has " + Twine(count) + " elements of " + valueTypeName(element) +
                     ", the " + Twine(cursor_.remaining()) + " bytes left hold at most " +
                     Twine(cursor_.remaining() / elementBytes) +
                     "; the file is cut or damaged, get it again");
  if (element == ValueType::String)
    return readStrings(count, what);
  uint64_t first = cursor_.offset();
  const uint8_t *data = cursor_.take(count * elementBytes);
  if (!data)
    return cursor_.error(ErrorKind::Metadata, what);
  if (element == ValueType::Bool)
    for (uint64_t i = 0; i < count; ++i)
      if (data[i] > 1)
        return error(ErrorKind::Metadata, first + i,
                     what + ": element " + Twine(i) + " is a bool with byte " +
                         Twine(unsigned{data[i]}) + ", expected 0 or 1; write the file again");
  return Value::numbers(element, data, count);
}

Expected<Value> Parser::readStrings(uint64_t count, const Twine &what) {
  uint64_t first = cursor_.offset();
  std::vector<uint32_t> starts;
  // A count may be a lie that only the last string reveals: memory grows with what was read.
  starts.reserve(std::min<uint64_t>(count, 1 << 20));
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t start = cursor_.offset() - first;
    if (start > UINT32_MAX)
      return error(ErrorKind::Limit, first, what + " is an array of strings over 4 GiB");
    starts.push_back(static_cast<uint32_t>(start));
    cursor_.string();
    if (cursor_.failed())
      return cursor_.error(ErrorKind::Metadata,
                           what + ", element " + Twine(i) + " of " + Twine(count));
  }
  return Value::strings(buffer_.data() + first, std::move(starts));
}

Error Parser::readAlignment() {
  const KeyValue *key = head_.find("general.alignment");
  if (!key)
    return Error::success();
  std::optional<uint32_t> alignment = key->value.as<uint32_t>();
  if (!alignment)
    return error(ErrorKind::Metadata, key->offset,
                 "key \"general.alignment\" has type " + key->value.typeName() +
                     ", expected u32; write the file again");
  if (!llvm::isPowerOf2_32(*alignment) || *alignment > maxAlignment)
    return error(ErrorKind::Metadata, key->offset,
                 "key \"general.alignment\" is " + Twine(*alignment) +
                     ", expected a power of two from 1 to " + Twine(maxAlignment) +
                     "; write the file again");
  head_.alignment = *alignment;
  return Error::success();
}

Error Parser::readTensors() {
  head_.tensors.reserve(std::min(numTensors_, maxTensors));
  for (uint64_t i = 0; i < numTensors_; ++i)
    if (Error e = readTensor(i))
      return e;
  return Error::success();
}

Error Parser::readTensor(uint64_t number) {
  uint64_t start = cursor_.offset();
  StringRef name = cursor_.string();
  if (cursor_.failed())
    return cursor_.error(ErrorKind::TensorTable,
                         "name of tensor " + Twine(number) + " of " + Twine(numTensors_));
  bool printable =
      llvm::none_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (name.empty() || name.size() > maxNameLength || !isUtf8(name) || !printable)
    return error(ErrorKind::TensorTable, start,
                 "name of tensor " + Twine(number) + " is " + escaped(name) + ", expected 1 to " +
                     Twine(maxNameLength) +
                     " bytes of UTF-8 without control characters; write the file again");
  auto [it, fresh] = nameOffsets_.try_emplace(name, start);
  if (!fresh)
    return error(ErrorKind::TensorTable, start,
                 "tensor " + escaped(name) + " was given before at byte " + Twine(it->second) +
                     "; expected each tensor once, write the file again");
  TensorInfo tensor{.name = name.str()};
  if (Error e = readDimensions(tensor))
    return e;
  if (Error e = readTensorType(tensor))
    return e;
  tensor.offset = cursor_.number<uint64_t>();
  if (cursor_.failed())
    return cursor_.error(ErrorKind::TensorTable, "offset of tensor " + escaped(name));
  head_.tensors.push_back(std::move(tensor));
  return Error::success();
}

Error Parser::readDimensions(TensorInfo &tensor) {
  uint64_t start = cursor_.offset();
  tensor.nDims = cursor_.number<uint32_t>();
  if (!cursor_.failed() && (tensor.nDims < 1 || tensor.nDims > 4))
    return error(ErrorKind::TensorTable, start,
                 "tensor " + escaped(tensor.name) + " has " + Twine(tensor.nDims) +
                     " dimensions, expected 1 to 4; the file is damaged, get it again");
  tensor.ne = {1, 1, 1, 1};
  uint64_t elements = 1;
  for (unsigned d = 0; d < tensor.nDims && !cursor_.failed(); ++d) {
    uint64_t at = cursor_.offset();
    uint64_t n = tensor.ne[d] = cursor_.number<uint64_t>();
    if (cursor_.failed())
      break;
    if (n == 0 || n > static_cast<uint64_t>(INT64_MAX))
      return error(ErrorKind::TensorTable, at,
                   "dimension " + Twine(d) + " of tensor " + escaped(tensor.name) + " is " +
                       Twine(static_cast<int64_t>(n)) +
                       ", expected at least 1; the file is damaged, get it again");
    if (elements > static_cast<uint64_t>(INT64_MAX) / n)
      return error(ErrorKind::TensorTable, at,
                   "element count of tensor " + escaped(tensor.name) +
                       " overflows: " + Twine(elements) + " x " + Twine(n) +
                       " is over 2^63 - 1; the file is damaged, get it again");
    elements *= n;
  }
  if (cursor_.failed())
    return cursor_.error(ErrorKind::TensorTable, "dimensions of tensor " + escaped(tensor.name));
  return Error::success();
}

Error Parser::readTensorType(TensorInfo &tensor) {
  uint64_t start = cursor_.offset();
  tensor.ggufType = cursor_.number<uint32_t>();
  std::string name = escaped(tensor.name);
  if (cursor_.failed())
    return cursor_.error(ErrorKind::TensorTable, "type of tensor " + name);
  std::optional<TensorType> type = tensorType(tensor.ggufType);
  StringRef removed = removedTensorType(tensor.ggufType);
  if (!removed.empty())
    return error(ErrorKind::TensorTable, start,
                 "tensor " + name + " has type " + Twine(tensor.ggufType) + " (" + removed +
                     "), which was removed from GGUF; convert the model again");
  if (!type)
    return error(ErrorKind::TensorTable, start,
                 "tensor " + name + " has type " + Twine(static_cast<int32_t>(tensor.ggufType)) +
                     ", which is unknown; the file is damaged or newer than this program");
  if (tensor.ne[0] % type->blockLen != 0)
    return error(ErrorKind::TensorTable, start,
                 "tensor " + name + " has rows of " + Twine(tensor.ne[0]) + " elements, type " +
                     type->name + " needs a multiple of " + Twine(type->blockLen) +
                     "; quantise the model again with another type");
  uint64_t blocks = tensor.numElements() / type->blockLen;
  if (blocks > static_cast<uint64_t>(INT64_MAX) / type->blockBytes)
    return error(ErrorKind::TensorTable, start,
                 "byte size of tensor " + name + " overflows: " + Twine(blocks) + " blocks of " +
                     Twine(type->blockBytes) + " bytes; the file is damaged, get it again");
  tensor.sizeBytes = blocks * type->blockBytes;
  if (const FormatInfo *info = formatByGgufId(tensor.ggufType)) {
    tensor.supported = true;
    tensor.format = info->format;
  }
  return Error::success();
}

const KeyValue *Head::find(StringRef key) const {
  for (const KeyValue &entry : keys)
    if (entry.key == key)
      return &entry;
  return nullptr;
}

Expected<Head> parseHead(HeaderBuffer &buffer, StringRef path, const OpenOptions &options) {
  return Parser(buffer, path, options).run();
}

} // namespace vetro::gguf
