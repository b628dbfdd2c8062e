// Which format a path holds, and the reading of entries whatever it is.
#include "runtime/trace/TensorFile.h"
#include "runtime/trace/Elements.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cstring>

namespace fs = llvm::sys::fs;

namespace vetro {
namespace {

/// What the first bytes of a file, at most 16, say.
using Recognise = bool (*)(llvm::StringRef head);

/// A length of at most 100 MB, then JSON. No other format's first bytes are so small a number.
bool isSafetensors(llvm::StringRef head) {
  return head.size() > 8 && llvm::support::endian::read64le(head.data()) <= 100'000'000 &&
         head[8] == '{';
}
bool isZip(llvm::StringRef head) {
  return head.starts_with("PK\3\4") || head.starts_with("PK\5\6");
}
bool isPickle(llvm::StringRef head) {
  return head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

llvm::Error refusePickle(std::shared_ptr<const Bytes> file, TensorTable &) {
  return file->error("is a pickle, which could run any program and is not read: save the tensors "
                     "with safetensors.torch.save_file or numpy.savez");
}

constexpr struct {
  Recognise holds;
  llvm::Error (*read)(std::shared_ptr<const Bytes> file, TensorTable &table);
} formats[] = {{isSafetensors, readSafetensors},
               {[](llvm::StringRef head) { return head.starts_with("\x93NUMPY"); }, readNpy},
               {isZip, readNpz},
               {[](llvm::StringRef head) { return head.starts_with("_logits_"); }, readSavedLogits},
               {[](llvm::StringRef head) { return head.starts_with("{"); }, readModuleTree},
               {isPickle, refusePickle},
               // What is left says best what a safetensors file lacks.
               {[](llvm::StringRef) { return true; }, readSafetensors}};

llvm::Error readFile(llvm::StringRef path, TensorTable &table) {
  auto bytes = Bytes::ofFile(path);
  if (!bytes)
    return bytes.takeError();
  char start[16];
  uint64_t length = std::min<uint64_t>(sizeof(start), (*bytes)->size());
  if (llvm::Error error = (*bytes)->read(0, start, length))
    return error;
  for (const auto &format : formats)
    if (format.holds({start, length}))
      return format.read(std::move(*bytes), table);
  llvm_unreachable("the last format takes everything");
}

/// The tree of modules in a folder, empty where there is none.
std::string moduleTreeIn(llvm::StringRef folder) {
  std::string found;
  std::error_code code;
  for (fs::directory_iterator i(folder, code), end; !code && i != end; i.increment(code))
    if (llvm::StringRef(i->path()).ends_with("_debug_tree_FULL_TENSORS.json"))
      found = std::max(found, i->path());
  return found;
}

llvm::Error readPath(llvm::StringRef path, TensorTable &table) {
  if (!fs::is_directory(path))
    return readFile(path, table);
  if (std::string tree = moduleTreeIn(path); !tree.empty())
    return readFile(tree, table);
  return readNpyFolder(path, table);
}

/// Where element `i` in column-major order lies in row-major order, called for each i in turn.
class RowMajorPlace {
public:
  explicit RowMajorPlace(llvm::ArrayRef<int64_t> shape) : shape(shape), at(shape.size(), 0) {}
  uint64_t next() {
    uint64_t place = 0;
    for (auto [d, i] : llvm::zip_equal(shape, at))
      place = place * d + i;
    for (size_t axis = 0; axis < at.size() && ++at[axis] == shape[axis]; ++axis)
      at[axis] = 0;
    return place;
  }

private:
  llvm::ArrayRef<int64_t> shape;
  std::vector<int64_t> at;
};

void convert(const TensorEntry &entry, const ElementType &type, std::string &data,
             llvm::MutableArrayRef<float> out) {
  RowMajorPlace place(entry.shape);
  for (size_t i = 0; i < out.size(); ++i) {
    char *number = &data[i * type.bytes];
    if (entry.bigEndian)
      std::reverse(number, number + type.bytes);
    out[entry.columnMajor ? place.next() : i] = type.toFloat(number);
  }
}

} // namespace

bool fits(llvm::ArrayRef<int64_t> shape, uint64_t bytesEach, uint64_t bytes) {
  for (int64_t d : shape) {
    bool tooMany = false;
    bytesEach = llvm::SaturatingMultiply(bytesEach, uint64_t(d), &tooMany);
    if (tooMany)
      return false;
  }
  return bytesEach == bytes;
}

llvm::Expected<NamedTensor> readEntry(const TensorEntry &entry) {
  std::string data(entry.sizeBytes, '\0');
  if (llvm::Error error = entry.bytes->read(entry.offset, data.data(), data.size()))
    return std::move(error);
  uint64_t count = 1;
  for (int64_t d : entry.shape)
    count *= uint64_t(d);
  NamedTensor out{entry.name, entry.shape, std::vector<float>(count)};
  if (!entry.unpack)
    convert(entry, *findElementType(entry.dtype), data, out.data);
  else if (llvm::Error error = entry.unpack(entry, data.data(), out.data))
    return entry.bytes->error("tensor " + printable(entry.name) + " " +
                              llvm::toString(std::move(error)));
  return out;
}

llvm::Error takeIds(TensorTable &table, llvm::StringRef name) {
  auto found =
      llvm::find_if(table.entries, [&](const TensorEntry &entry) { return entry.name == name; });
  if (found == table.entries.end() || (found->dtype[0] != 'I' && found->dtype[0] != 'U') ||
      !(found->shape.size() == 1 || (found->shape.size() == 2 && found->shape[0] == 1)))
    return llvm::Error::success();
  auto ids = readEntry(*found);
  if (!ids)
    return ids.takeError();
  std::string &text = table.metadata["ids"];
  for (float id : ids->data)
    text += (text.empty() ? "" : ",") + std::to_string(int64_t(id));
  table.entries.erase(found);
  return llvm::Error::success();
}

std::unique_ptr<TensorFile> TensorFile::of(llvm::StringRef path, TensorTable table) {
  std::unique_ptr<TensorFile> f(new TensorFile());
  f->name = path.str();
  f->table = std::move(table);
  for (auto [i, entry] : llvm::enumerate(f->table.entries))
    f->index[entry.name] = i;
  return f;
}

llvm::Expected<std::unique_ptr<TensorFile>> TensorFile::open(llvm::StringRef path) {
  TensorTable table;
  if (llvm::Error error = readPath(path, table))
    return std::move(error);
  return of(path, std::move(table));
}

const TensorEntry *TensorFile::find(llvm::StringRef tensor) const {
  auto found = index.find(tensor);
  return found == index.end() ? nullptr : &table.entries[found->second];
}

llvm::StringRef TensorFile::metadata(llvm::StringRef key) const {
  auto found = table.metadata.find(key.str());
  return found == table.metadata.end() ? llvm::StringRef() : llvm::StringRef(found->second);
}

llvm::Expected<NamedTensor> TensorFile::read(llvm::StringRef tensor) const {
  if (const TensorEntry *entry = find(tensor))
    return readEntry(*entry);
  return llvm::createStringError(name + ": has no tensor " + printable(tensor));
}

} // namespace vetro
