// Names and consistency of a split model's files.
#include "frontends/gguf/Split.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace vetro::gguf {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static constexpr uint64_t maxShards = 65535; // split.count is a u16

/// An integer key, `absent` where there is none.
static Expected<uint64_t> count(StringRef path, const Head &head, StringRef key, uint64_t absent) {
  const KeyValue *entry = head.find(key);
  if (!entry)
    return absent;
  if (std::optional<uint64_t> value = entry->value.asUInt())
    return *value;
  return makeError(ErrorKind::Metadata, path, entry->offset,
                   "key " + escaped(key) + " is " + entry->value.typeName() + " " +
                       entry->value.toText() +
                       ", expected a non-negative integer; split the model again");
}

/// "-00002-of-00005.gguf", `number` from 0.
static std::string suffix(uint64_t number, uint64_t count) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("-%05llu-of-%05llu.gguf", static_cast<unsigned long long>(number + 1),
                     static_cast<unsigned long long>(count));
  return text;
}

Expected<std::vector<std::string>> shardPaths(StringRef path, const Head &head) {
  Expected<uint64_t> total = count(path, head, "split.count", 0);
  if (!total)
    return total.takeError();
  Expected<uint64_t> number = count(path, head, "split.no", 0);
  if (!number)
    return number.takeError();
  if (*total <= 1)
    return std::vector<std::string>{path.str()};
  if (*total > maxShards || *number >= *total)
    return makeError(ErrorKind::Data, path,
                     "says it is shard " + Twine(*number) + " (from 0) of " + Twine(*total) +
                         ", at most " + Twine(maxShards) + " are possible; split it again");
  StringRef base = path;
  if (!base.consume_back(suffix(*number, *total)))
    return makeError(ErrorKind::Data, path,
                     "is shard " + Twine(*number + 1) + " of " + Twine(*total) +
                         ", so its name must end in \"" + suffix(*number, *total) +
                         "\"; rename it and its siblings");
  if (*number != 0)
    return makeError(ErrorKind::Data, path,
                     "is shard " + Twine(*number + 1) + " of " + Twine(*total) + "; open \"" +
                         llvm::sys::path::filename(base) + suffix(0, *total) + "\" instead");
  std::vector<std::string> paths, missing;
  for (uint64_t i = 0; i < *total; ++i) {
    paths.push_back(base.str() + suffix(i, *total));
    if (!llvm::sys::fs::exists(paths.back()))
      missing.push_back(paths.back());
  }
  if (!missing.empty())
    return makeError(
        ErrorKind::Data, path,
        Twine(missing.size()) + " of " + Twine(*total) + " shards are missing, the first is \"" +
            llvm::sys::path::filename(missing.front()) + "\"; put all shards into one folder");
  return paths;
}

Error checkShard(StringRef path, const Head &head, uint64_t number, uint64_t total) {
  Expected<uint64_t> foundTotal = count(path, head, "split.count", 0);
  if (!foundTotal)
    return foundTotal.takeError();
  Expected<uint64_t> foundNumber = count(path, head, "split.no", 0);
  if (!foundNumber)
    return foundNumber.takeError();
  if (*foundTotal == total && *foundNumber == number)
    return Error::success();
  return makeError(ErrorKind::Data, path,
                   "says it is shard " + Twine(*foundNumber) + " (from 0) of " +
                       Twine(*foundTotal) + ", expected " + Twine(number) + " of " + Twine(total) +
                       "; its name and content do not agree, get it again");
}

Error checkTensorCount(StringRef path, const Head &first, uint64_t found) {
  Expected<uint64_t> expected = count(path, first, "split.tensors.count", found);
  if (!expected)
    return expected.takeError();
  if (*expected == found)
    return Error::success();
  return makeError(ErrorKind::TensorTable, path,
                   "the shards hold " + Twine(found) +
                       " tensors, key \"split.tensors.count\" says " + Twine(*expected) +
                       "; the shards do not belong together, get them again");
}

} // namespace vetro::gguf
