// The writer of GGUF files.
#include "frontends/gguf/Write.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"

namespace vetro::gguf {

using llvm::ArrayRef;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

Writer::Writer(uint32_t alignment) : alignment_(alignment) {
  if (alignment != 32)
    add<uint32_t>("general.alignment", alignment);
}

void Writer::append(const void *data, size_t bytes) {
  if (bytes != 0)
    keyBytes_.append(static_cast<const char *>(data), bytes);
}

void Writer::appendText(StringRef text) {
  uint64_t length = text.size();
  append(&length, sizeof(length));
  append(text.data(), text.size());
}

void Writer::beginKey(StringRef key, ValueType type) {
  ++numKeys_;
  keys_.push_back(key.str());
  appendText(key);
  append(&type, sizeof(type));
}

void Writer::beginArray(StringRef key, ValueType element, uint64_t count) {
  beginKey(key, ValueType::Array);
  append(&element, sizeof(element));
  append(&count, sizeof(count));
}

void Writer::addString(StringRef key, StringRef text) {
  beginKey(key, ValueType::String);
  appendText(text);
}

template <typename Texts> void Writer::appendTexts(StringRef key, const Texts &texts) {
  beginArray(key, ValueType::String, texts.size());
  for (StringRef text : texts)
    appendText(text);
}

void Writer::addStrings(StringRef key, ArrayRef<std::string> texts) { appendTexts(key, texts); }
void Writer::addStrings(StringRef key, ArrayRef<StringRef> texts) { appendTexts(key, texts); }

void Writer::addValue(StringRef key, const Value &value) {
  if (std::optional<StringArray> texts = value.asStrings())
    return appendTexts(key, *texts);
  if (std::optional<StringRef> text = value.asString())
    return addString(key, *text);
  ArrayRef<uint8_t> bytes = value.rawBytes();
  if (value.isArray())
    beginArray(key, value.elementType(), value.size());
  else
    beginKey(key, value.type());
  append(bytes.data(), bytes.size());
}

void Writer::addTensor(StringRef name, unsigned ggufType, ArrayRef<uint64_t> ne,
                       ArrayRef<uint8_t> bytes) {
  auto produce = [bytes](llvm::raw_ostream &os) {
    os.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    return Error::success();
  };
  tensors_.push_back({name.str(), ggufType, ne.vec(), produce});
}

void Writer::addTensor(StringRef name, Format format, ArrayRef<uint64_t> ne,
                       ArrayRef<uint8_t> bytes) {
  addTensor(name, formatInfo(format).ggufId, ne, bytes);
}

void Writer::addTensor(StringRef name, Format format, ArrayRef<uint64_t> ne, Produce produce) {
  tensors_.push_back({name.str(), formatInfo(format).ggufId, ne.vec(), std::move(produce)});
}

static Error bad(const Twine &what) {
  return llvm::make_error<GgufError>(ErrorKind::File, ("writing a GGUF file: " + what).str());
}

/// Bytes of a tensor, or what is wrong with it.
static llvm::Expected<uint64_t> tensorBytes(StringRef name, unsigned ggufType,
                                            ArrayRef<uint64_t> ne) {
  std::optional<TensorType> type = tensorType(ggufType);
  if (!type)
    return bad("tensor " + escaped(name) + " has type " + Twine(ggufType) + ", which is unknown");
  if (ne.empty() || ne.size() > 4 || ne[0] % type->blockLen != 0)
    return bad("tensor " + escaped(name) + " of type " + type->name + " has " + Twine(ne.size()) +
               " dimensions and rows of " + Twine(ne.empty() ? 0 : ne[0]) +
               " elements, expected 1 to 4 dimensions and rows of whole blocks of " +
               Twine(type->blockLen));
  uint64_t elements = 1;
  for (uint64_t n : ne) {
    if (n == 0 || n > (uint64_t(1) << 60) / elements)
      return bad("tensor " + escaped(name) + " has a dimension of " + Twine(n) +
                 ", expected at least 1 and less than 2^60 elements");
    elements *= n;
  }
  return elements / type->blockLen * type->blockBytes;
}

Error Writer::check() const {
  if (!llvm::isPowerOf2_32(alignment_) || alignment_ > 65536)
    return bad("alignment is " + Twine(alignment_) + ", expected a power of two from 1 to 65536");
  llvm::StringSet<> keys, names;
  for (const std::string &key : keys_)
    if (key.empty() || !keys.insert(key).second)
      return bad("key " + escaped(key) + " is empty or was added twice");
  for (const Tensor &tensor : tensors_) {
    if (tensor.name.empty() || tensor.name.size() > 63 || !names.insert(tensor.name).second)
      return bad("tensor " + escaped(tensor.name) +
                 " has no name, one of over 63 bytes, or was added twice");
    if (auto bytes = tensorBytes(tensor.name, tensor.ggufType, tensor.ne); !bytes)
      return bytes.takeError();
  }
  return Error::success();
}

/// Writes a number in the host's order, which is the file's.
template <typename T> static void put(llvm::raw_ostream &os, T value) {
  os.write(reinterpret_cast<const char *>(&value), sizeof(T));
}

Error Writer::write(llvm::raw_ostream &os) const {
  if (Error e = check())
    return e;
  uint64_t start = os.tell();
  os << "GGUF";
  put<uint32_t>(os, 3);
  put<uint64_t>(os, tensors_.size());
  put<uint64_t>(os, numKeys_);
  os << keyBytes_;
  uint64_t offset = 0;
  std::vector<uint64_t> sizes;
  for (const Tensor &tensor : tensors_) {
    sizes.push_back(*tensorBytes(tensor.name, tensor.ggufType, tensor.ne)); // checked above
    put<uint64_t>(os, tensor.name.size());
    os << tensor.name;
    put<uint32_t>(os, static_cast<uint32_t>(tensor.ne.size()));
    for (uint64_t n : tensor.ne)
      put<uint64_t>(os, n);
    put<uint32_t>(os, tensor.ggufType);
    put<uint64_t>(os, offset);
    offset = llvm::alignTo(offset + sizes.back(), alignment_);
  }
  auto pad = [&] {
    uint64_t at = os.tell() - start;
    os.write_zeros(static_cast<unsigned>(llvm::alignTo(at, alignment_) - at));
  };
  pad();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    uint64_t before = os.tell();
    if (Error e = tensors_[i].produce(os))
      return e;
    if (os.tell() - before != sizes[i])
      return bad("tensor " + escaped(tensors_[i].name) + " got " + Twine(os.tell() - before) +
                 " bytes, its type and shape need " + Twine(sizes[i]));
    pad();
  }
  return Error::success();
}

Error Writer::write(StringRef path) const {
  llvm::SmallString<128> temporary;
  int fd;
  if (std::error_code code = llvm::sys::fs::createUniqueFile(path + ".%%%%%%.part", fd, temporary))
    return makeSystemError(path, "create a file beside it", code.value());
  llvm::raw_fd_ostream os(fd, /*shouldClose=*/true);
  Error error = write(os);
  os.close();
  if (!error && os.has_error())
    error = makeSystemError(path, "write", os.error().value());
  os.clear_error();
  if (!error)
    if (std::error_code code = llvm::sys::fs::rename(temporary, path))
      error = makeSystemError(path, "put the new file in place", code.value());
  if (error)
    llvm::sys::fs::remove(temporary);
  return error;
}

} // namespace vetro::gguf
