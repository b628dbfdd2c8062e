// Where the tensors' bytes lie in the data section. The writers of GGUF pack tensors one after
// the other, each padded to the alignment; any other picture means that the table and the data do
// not belong together, or that the file hides something.
#include "frontends/gguf/Parse.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace vetro::gguf {

using llvm::Error;
using llvm::Twine;

/// "\"a\" (bytes 0 to 64 of the data)".
static std::string rangeText(const TensorInfo &t) {
  return escaped(t.name) + " (bytes " + std::to_string(t.offset) + " to " +
         std::to_string(t.offset + t.sizeBytes) + " of the data section)";
}

/// Alignment of the offset, and that the range ends inside the file.
static Error checkOne(const TensorInfo &t, const Head &head, uint64_t fileBytes,
                      llvm::StringRef path) {
  uint64_t dataBytes = fileBytes > head.dataOffset ? fileBytes - head.dataOffset : 0;
  if (t.offset % head.alignment != 0)
    return makeError(ErrorKind::Data, path,
                     "tensor " + escaped(t.name) + " has offset " + Twine(t.offset) +
                         ", expected a multiple of the alignment " + Twine(head.alignment) +
                         "; the file is damaged, get it again");
  if (t.offset <= dataBytes && t.sizeBytes <= dataBytes - t.offset)
    return Error::success();
  if (t.offset > UINT64_MAX - t.sizeBytes)
    return makeError(ErrorKind::Data, path,
                     "tensor " + escaped(t.name) + " has offset " + Twine(t.offset) + " and " +
                         Twine(t.sizeBytes) +
                         " bytes, which overflows; the file is damaged, get it again");
  return makeError(ErrorKind::Data, path,
                   "tensor " + rangeText(t) + " ends " + Twine(t.offset + t.sizeBytes - dataBytes) +
                       " bytes past the end of the file (" + Twine(fileBytes) +
                       " bytes, data from byte " + Twine(head.dataOffset) +
                       "); the file is cut, get it again");
}

/// The error of bytes that no tensor claims.
static Error unclaimed(llvm::StringRef path, uint64_t begin, uint64_t end, const Twine &where) {
  return makeError(ErrorKind::Data, path, begin,
                   Twine(end - begin) + " bytes " + where +
                       " belong to no tensor; the tensor table does not fit the data or something "
                       "is hidden in the file: get it again, or accept it with --allow-trailing");
}

/// Neighbours in offset order: no overlap, and no gap but padding.
static Error checkNeighbours(const Head &head, uint64_t fileBytes, llvm::StringRef path,
                             bool allowGaps) {
  std::vector<const TensorInfo *> order;
  order.reserve(head.tensors.size());
  for (const TensorInfo &t : head.tensors)
    order.push_back(&t);
  // Equal offsets stay in table order: the pointers are into one vector.
  llvm::sort(order, [](const TensorInfo *a, const TensorInfo *b) {
    return std::pair(a->offset, a) < std::pair(b->offset, b);
  });
  uint64_t end = 0; // of the tensor before, padded
  const TensorInfo *before = nullptr;
  for (const TensorInfo *t : order) {
    if (before && t->offset < before->offset + before->sizeBytes)
      return makeError(ErrorKind::Data, path,
                       "tensor " + rangeText(*t) + " overlaps tensor " + rangeText(*before) +
                           "; the file is damaged, get it again");
    if (t->offset > end && !allowGaps)
      return unclaimed(path, head.dataOffset + end, head.dataOffset + t->offset,
                       "before tensor " + escaped(t->name));
    end = llvm::alignTo(t->offset + t->sizeBytes, head.alignment);
    before = t;
  }
  uint64_t claimed = before ? head.dataOffset + end : head.dataOffset;
  if (fileBytes > claimed && !allowGaps)
    return unclaimed(path, claimed, fileBytes, "at the end of the file");
  return Error::success();
}

Error checkDataRanges(const Head &head, uint64_t fileBytes, llvm::StringRef path,
                      const OpenOptions &options) {
  for (const TensorInfo &t : head.tensors)
    if (Error e = checkOne(t, head, fileBytes, path))
      return e;
  return checkNeighbours(head, fileBytes, path, options.allowTrailing);
}

} // namespace vetro::gguf
