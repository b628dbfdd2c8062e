// A model's files as one: keys, tensors and bytes of all shards.
#include "frontends/gguf/Gguf.h"
#include "frontends/gguf/Override.h"
#include "frontends/gguf/Shard.h"
#include "frontends/gguf/Split.h"
#include "llvm/ADT/Twine.h"

namespace vetro::gguf {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

llvm::SmallVector<int64_t, 4> TensorInfo::shape() const {
  llvm::SmallVector<int64_t, 4> result;
  for (unsigned d = nDims; d > 0; --d)
    result.push_back(static_cast<int64_t>(ne[d - 1]));
  return result;
}

StringRef TensorInfo::typeName() const {
  std::optional<TensorType> type = tensorType(ggufType);
  return type ? type->name : StringRef("unknown");
}

File::~File() = default;

Expected<std::shared_ptr<File>> File::open(StringRef path, const OpenOptions &options) {
  std::shared_ptr<File> file(new File());
  file->path_ = path.str();
  if (Error e = file->openShards(options))
    return e;
  if (Error e = file->applyOverrides(options.overrides))
    return e;
  if (Error e = file->loadData(options))
    return e;
  if (Error e = checkRopeFactors(*file))
    return e;
  if (options.checkTensors)
    if (Error e = file->checkAll(options))
      return e;
  return file;
}

Error File::openShards(const OpenOptions &options) {
  Expected<std::unique_ptr<Shard>> first = Shard::open(path_, options);
  if (!first)
    return first.takeError();
  const Head &head = (*first)->head(); // lives in the shard, which does not move
  version_ = head.version;
  keys_ = head.keys;
  for (uint32_t i = 0; i < keys_.size(); ++i)
    keyIndex_.try_emplace(keys_[i].key, i);
  Expected<std::vector<std::string>> paths = shardPaths(path_, head);
  if (!paths)
    return paths.takeError();
  if (Error e = addShard(std::move(*first), options))
    return e;
  for (size_t i = 1; i < paths->size(); ++i) {
    Expected<std::unique_ptr<Shard>> shard = Shard::open((*paths)[i], options);
    if (!shard)
      return shard.takeError();
    if (Error e = checkShard((*paths)[i], (*shard)->head(), i, paths->size()))
      return e;
    if (Error e = addShard(std::move(*shard), options))
      return e;
  }
  return checkTensorCount(path_, head, tensors_.size());
}

Error File::addShard(std::unique_ptr<Shard> shard, const OpenOptions &options) {
  shard->firstTensor = static_cast<unsigned>(tensors_.size());
  for (const TensorInfo &tensor : shard->head().tensors) {
    auto [it, fresh] = tensorIndex_.try_emplace(tensor.name, tensors_.size());
    if (!fresh)
      return makeError(ErrorKind::TensorTable, shard->path(),
                       "tensor " + escaped(tensor.name) + " is also in \"" +
                           shards_[tensors_[it->second].shard]->path() +
                           "\"; the shards do not belong together, get them again");
    tensors_.push_back(tensor);
    tensors_.back().shard = static_cast<unsigned>(shards_.size());
    tensors_.back().index = static_cast<unsigned>(tensors_.size() - 1);
  }
  if (tensors_.size() > maxTensors && !options.ignoreLimits)
    return makeError(ErrorKind::Limit, path_,
                     "the shards hold over " + Twine(maxTensors) +
                         " tensors; allow more with --ignore-limits");
  shards_.push_back(std::move(shard));
  return Error::success();
}

Error File::applyOverrides(llvm::ArrayRef<std::string> specs) {
  for (const std::string &spec : specs) {
    auto parsed = parseOverride(spec, [&](StringRef key) { return find(key); });
    if (!parsed)
      return parsed.takeError();
    auto [it, fresh] = keyIndex_.try_emplace(parsed->key, keys_.size());
    if (fresh) // the index owns the key's text and never moves it
      keys_.push_back({.key = it->first(), .value = {}});
    KeyValue &entry = keys_[it->second];
    entry.value = std::move(parsed->value);
    entry.overridden = true;
    texts_.push_back(std::move(parsed->text));
  }
  return Error::success();
}

Error File::loadData(const OpenOptions &options) {
  double done = 0, total = static_cast<double>(fileBytes());
  for (const std::unique_ptr<Shard> &shard : shards_) {
    double share = static_cast<double>(shard->fileBytes());
    auto report = [&](double part) {
      if (options.progress)
        options.progress((done + share * part) / total);
    };
    if (Error e = shard->load(options, report, notes_))
      return e;
    done += share;
  }
  return Error::success();
}

Error File::checkAll(const OpenOptions &options) const {
  for (const TensorInfo &tensor : tensors_) {
    if (Error e = checkScales(*this, tensor))
      return e;
    if (Error e = checkWeights(*this, tensor))
      return e;
    if (options.progress)
      options.progress(static_cast<double>(tensor.index + 1) /
                       static_cast<double>(tensors_.size()));
  }
  return Error::success();
}

const Value *File::find(StringRef key) const {
  auto it = keyIndex_.find(key);
  return it == keyIndex_.end() ? nullptr : &keys_[it->second].value;
}

const TensorInfo *File::findTensor(StringRef name) const {
  auto it = tensorIndex_.find(name);
  return it == tensorIndex_.end() ? nullptr : &tensors_[it->second];
}

llvm::ArrayRef<uint8_t> File::data(const TensorInfo &tensor) const {
  const Shard &shard = *shards_[tensor.shard];
  return shard.data().bytes(tensor.index - shard.firstTensor);
}

llvm::SmallVector<llvm::ArrayRef<uint8_t>, 1> File::mappings() const {
  llvm::SmallVector<llvm::ArrayRef<uint8_t>, 1> all;
  for (const std::unique_ptr<Shard> &shard : shards_)
    if (shard->data().isMapped())
      all.push_back(shard->data().memory());
  return all;
}

const TensorInfo *File::tensorAt(const void *address) const {
  for (const std::unique_ptr<Shard> &shard : shards_) {
    size_t i = shard->data().tensorAt(address);
    if (i < shard->head().tensors.size())
      return &tensors_[shard->firstTensor + i];
  }
  return nullptr;
}

void File::releasePages(const TensorInfo &tensor) const {
  const Shard &shard = *shards_[tensor.shard];
  shard.data().release(tensor.index - shard.firstTensor);
}

void File::releaseRows(const TensorInfo &tensor, uint64_t firstRow, uint64_t numRows) const {
  const Shard &shard = *shards_[tensor.shard];
  uint64_t perRow = tensor.sizeBytes / std::max<uint64_t>(tensor.numRows(), 1);
  shard.data().release(tensor.index - shard.firstTensor, firstRow * perRow,
                       (firstRow + numRows) * perRow);
}

uint64_t File::fileBytes() const {
  uint64_t bytes = 0;
  for (const std::unique_ptr<Shard> &shard : shards_)
    bytes += shard->fileBytes();
  return bytes;
}

Error File::checkUnchanged() const {
  for (const std::unique_ptr<Shard> &shard : shards_)
    if (Error e = shard->checkUnchanged())
      return e;
  return Error::success();
}

Error File::typeError(StringRef key, const Value &found, ValueType expected) const {
  return makeError(ErrorKind::Metadata, path_,
                   "key " + escaped(key) + " has type " + found.typeName() + ", expected " +
                       valueTypeName(expected) + "; replace it with --override-kv " + key + "=" +
                       valueTypeName(expected) + ":VALUE");
}

Error File::missingError(StringRef key, ValueType expected) const {
  return makeError(ErrorKind::Metadata, path_,
                   "key " + escaped(key) + " (" + valueTypeName(expected) +
                       ") is missing; give it with --override-kv " + key + "=" +
                       valueTypeName(expected) + ":VALUE");
}

} // namespace vetro::gguf
