// NumPy's arrays: one in a file, several in a zip file or in a folder.
#include "runtime/trace/Elements.h"
#include "runtime/trace/TensorTable.h"
#include "runtime/trace/Zip.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <limits>

namespace vetro {
namespace {

using llvm::StringRef;
using llvm::Twine;

constexpr StringRef magic = "\x93NUMPY", ending = ".npy";
constexpr uint64_t maxHeaderBytes = 1'000'000; // NumPy itself reads no more than 10,000

/// The header's Python literal, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, read
/// without Python. Every function is false where the text is something else.
class HeaderText {
public:
  explicit HeaderText(StringRef text) : rest(text) {}
  bool parse(std::string &descr, bool &columnMajor, std::vector<int64_t> &shape);

private:
  bool take(StringRef text) {
    rest = rest.ltrim();
    return rest.consume_front(text);
  }
  bool quotedText(std::string &to);
  bool truth(bool &to) { return (to = take("True")) || take("False"); }
  bool tuple(std::vector<int64_t> &to);
  /// A list: of a type with named fields.
  bool list(std::string &to);

  StringRef rest;
};

bool HeaderText::quotedText(std::string &to) {
  StringRef mark = take("'") ? "'" : take("\"") ? "\"" : "";
  size_t end = mark.empty() ? StringRef::npos : rest.find(mark);
  if (end == StringRef::npos)
    return false;
  to = rest.take_front(end).str();
  rest = rest.drop_front(end + 1);
  return true;
}

bool HeaderText::tuple(std::vector<int64_t> &to) {
  if (!take("("))
    return false;
  while (!take(")")) {
    uint64_t n;
    rest = rest.ltrim();
    if (rest.consumeInteger(10, n) || n > uint64_t(std::numeric_limits<int64_t>::max()))
      return false;
    take("L"); // Python 2's long numbers
    to.push_back(int64_t(n));
    if (!take(",") && !rest.ltrim().starts_with(")"))
      return false;
  }
  return true;
}

bool HeaderText::list(std::string &to) {
  size_t end = rest.find_last_of(']');
  if (!rest.ltrim().starts_with("[") || end == StringRef::npos)
    return false;
  to = rest.take_front(end + 1).trim().str();
  rest = rest.drop_front(end + 1);
  return true;
}

bool HeaderText::parse(std::string &descr, bool &columnMajor, std::vector<int64_t> &shape) {
  bool hasDescr = false, hasOrder = false, hasShape = false;
  if (!take("{"))
    return false;
  while (!take("}")) {
    std::string key;
    if (!quotedText(key) || !take(":"))
      return false;
    if (key == "descr" && !hasDescr)
      hasDescr = quotedText(descr) || list(descr);
    else if (key == "fortran_order" && !hasOrder)
      hasOrder = truth(columnMajor);
    else if (key == "shape" && !hasShape)
      hasShape = tuple(shape);
    else
      return false;
    if (!take(",") && !rest.ltrim().starts_with("}"))
      return false;
  }
  return rest.trim().empty() && hasDescr && hasOrder && hasShape;
}

/// NumPy's code of a type, "<f4" or "|b1", as ours; null: none of ours.
const ElementType *typeOf(StringRef descr, bool &bigEndian) {
  bigEndian = descr.starts_with(">");
  StringRef code = descr.drop_front(descr.empty() ? 0 : 1);
  if (descr.empty() || !StringRef("<>|=").contains(descr[0]))
    return nullptr;
  if (code == "b1")
    return findElementType("BOOL");
  if (code.empty() || !StringRef("fiu").contains(code[0]))
    return nullptr;
  unsigned bytes = 0;
  if (code.drop_front().getAsInteger(10, bytes) || bytes > 8)
    return nullptr;
  return findElementType((Twine(code.take_front().upper()) + Twine(8 * bytes)).str());
}

/// What to say of a type that is not read.
std::string refusalOf(StringRef descr) {
  if (descr.contains("O"))
    return "holds Python objects, which are pickled and not read: save numbers, as float32";
  if (descr.starts_with("["))
    return "has named fields: save each as an array of its own";
  return "has the type " + printable(descr) +
         ", read are numbers of 1 to 8 bytes and no complex ones: save it as float32";
}

/// Where an array's bytes are, and what to call it.
struct Array {
  std::string name;
  std::shared_ptr<const Bytes> bytes;
  uint64_t offset, sizeBytes;
};

/// Reads the fixed part and the header; moves `array` on to its numbers.
llvm::Expected<std::string> readHeader(Array &array, const Twine &what) {
  char start[12];
  uint64_t fixed = magic.size() + 4;
  if (array.sizeBytes < fixed + 2)
    return array.bytes->error(what + "is " + Twine(array.sizeBytes) +
                              " bytes, an array of NumPy's has more");
  if (llvm::Error error = array.bytes->read(array.offset, start, sizeof(start)))
    return std::move(error);
  if (!StringRef(start, sizeof(start)).starts_with(magic) || start[6] < 1 || start[6] > 3)
    return array.bytes->error(what + "does not begin as an array of NumPy's, versions 1 to 3");
  bool shortLength = start[6] == 1;
  uint64_t length = shortLength ? llvm::support::endian::read16le(start + 8)
                                : llvm::support::endian::read32le(start + 8);
  fixed += shortLength ? 0 : 2;
  if (length > maxHeaderBytes || length > array.sizeBytes - fixed)
    return array.bytes->error(what + "announces a header of " + Twine(length) + " bytes, it has " +
                              Twine(array.sizeBytes - fixed) + ", and at most " +
                              Twine(maxHeaderBytes) + " are read: is it whole?");
  std::string text(length, '\0');
  if (llvm::Error error = array.bytes->read(array.offset + fixed, text.data(), length))
    return std::move(error);
  array.offset += fixed + length, array.sizeBytes -= fixed + length;
  return text;
}

/// `what`: "" or "its member NAME ", for errors.
llvm::Error addArray(Array array, const Twine &what, TensorTable &table) {
  auto header = readHeader(array, what);
  if (!header)
    return header.takeError();
  TensorEntry entry{.name = std::move(array.name)};
  std::string descr;
  if (!HeaderText(*header).parse(descr, entry.columnMajor, entry.shape))
    return array.bytes->error(
        what + "has a header that is not descr, fortran_order and shape: " + printable(*header));
  const ElementType *type = typeOf(descr, entry.bigEndian);
  if (!type)
    return array.bytes->error(what + refusalOf(descr));
  if (entry.shape.size() > 16 || !fits(entry.shape, type->bytes, array.sizeBytes))
    return array.bytes->error(what + "has " + Twine(array.sizeBytes) +
                              " bytes of numbers, which its header " + printable(*header) +
                              " does not fit: is it whole?");
  entry.dtype = type->name;
  entry.bytes = std::move(array.bytes);
  entry.offset = array.offset, entry.sizeBytes = array.sizeBytes;
  table.entries.push_back(std::move(entry));
  return llvm::Error::success();
}

/// "blk.0.q" of "folder/blk.0.q.npy".
std::string nameOf(StringRef path) {
  StringRef name = llvm::sys::path::filename(path);
  name.consume_back(ending);
  return name.str();
}

} // namespace

llvm::Error readNpy(std::shared_ptr<const Bytes> file, TensorTable &table) {
  std::string name = nameOf(file->path());
  uint64_t size = file->size();
  return addArray({std::move(name), std::move(file), 0, size}, "", table);
}

llvm::Error readNpz(std::shared_ptr<const Bytes> file, TensorTable &table) {
  auto members = readZip(file);
  if (!members)
    return members.takeError();
  llvm::StringSet<> names;
  for (const ZipMember &member : *members) {
    StringRef name = member.name;
    if (name.ends_with(".pkl"))
      return file->error("holds a pickle, " + printable(name) +
                         ", as torch.save writes it, which could run any program and is not read: "
                         "save the tensors with safetensors.torch.save_file");
    if (!name.consume_back(ending))
      return file->error("its member " + printable(name) + " is no .npy array");
    if (!names.insert(name).second)
      return file->error("has the array " + printable(name) + " twice");
    if (llvm::Error error = addArray({name.str(), member.bytes, 0, member.bytes->size()},
                                     "its member " + printable(name) + " ", table))
      return error;
  }
  return takeIds(table, "ids");
}

llvm::Error readNpyFolder(StringRef folder, TensorTable &table) {
  std::vector<std::string> paths;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator i(folder, code), end; !code && i != end; i.increment(code))
    if (StringRef(i->path()).ends_with(ending))
      paths.push_back(i->path());
  if (code)
    return llvm::createStringError(folder + ": could not list it: " + code.message());
  if (paths.empty())
    return llvm::createStringError(folder + ": is a folder without .npy files or the tree of "
                                            "transformers' debugger, expected a file of values");
  llvm::sort(paths);
  for (const std::string &path : paths) {
    auto file = Bytes::ofFileAmongMany(path);
    if (!file)
      return file.takeError();
    if (llvm::Error error = readNpy(std::move(*file), table))
      return error;
  }
  return takeIds(table, "ids");
}

} // namespace vetro
