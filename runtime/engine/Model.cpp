// Loading: the steps before the first token.
#include "runtime/engine/Model.h"
#include "runtime/engine/Compile.h"
#include "runtime/engine/MappedFile.h"
#include "runtime/jit/Compile.h"
#include "runtime/memory/Signals.h"

#include <atomic>

namespace vetro {

Model::Model() = default;
Model::~Model() = default;

llvm::Expected<std::shared_ptr<Model>> Model::load(ModelOptions options) {
  std::shared_ptr<Model> model(new Model());
  if (options.level.empty())
    options.level = bestLevel().str();
  catchFaults(options);
  auto file = gguf::File::open(options.path, options.open);
  if (!file)
    return file.takeError();
  model->gguf = std::move(*file);
  model->opts = std::move(options);

  auto tokenizer = loadTokenizer(*model->gguf);
  if (!tokenizer)
    return tokenizer.takeError();
  model->vocab = std::move(*tokenizer);
  auto pool = ThreadPool::create({model->opts.nThreads, model->opts.pin});
  if (!pool)
    return pool.takeError();
  model->threads = std::move(*pool);
  if (llvm::Error error = model->compile())
    return std::move(error);
  if (llvm::Error error = model->packWeights())
    return std::move(error);
  return model;
}

llvm::Error Model::compile() {
  nCtxTrain = contextLength(*gguf);
  ObjectCache cache(opts.changeGraph ? "" : opts.cacheDir);
  std::string key = ObjectCache::key(cacheDescription(*gguf, opts));
  std::optional<CacheEntry> entry = cache.find(key);
  cached = entry.has_value();
  if (!entry) {
    if (opts.progress)
      opts.progress("compiling", 0);
    auto planned = plannedGraph();
    if (!planned)
      return planned.takeError();
    auto fresh = compileGraph(*graph, opts);
    if (!fresh)
      return fresh.takeError();
    // A cache that cannot be written costs the next start some seconds, nothing else.
    llvm::consumeError(cache.store(key, fresh->object->getBuffer(), fresh->plan));
    entry = std::move(*fresh);
  }
  compiled = std::move(entry->plan);
  if (compiled.nVocab != uint64_t(vocab->nTokens()))
    return llvm::createStringError("%s: tokenizer.ggml.tokens holds %d tokens, but the model "
                                   "computes %llu logits; the file is damaged",
                                   opts.path.c_str(), vocab->nTokens(),
                                   (unsigned long long)compiled.nVocab);
  auto code = Code::load(std::move(entry->object));
  if (!code)
    return code.takeError();
  machineCode = std::move(*code);
  return llvm::Error::success();
}

/// Bytes of the file that are checked and then packed while they are in the cache, and after how
/// many of them their pages are given back.
static constexpr uint64_t cachedBytes = 256 << 10, residentBytes = 16 << 20;

llvm::Error Model::packUnits(size_t weight, const gguf::TensorInfo &tensor, uint64_t begin,
                             uint64_t end) {
  const uint8_t *bytes = gguf->data(tensor).data();
  uint64_t units = packed.units(weight), rows = tensor.numRows();
  uint64_t step = std::max<uint64_t>(1, units * cachedBytes / (tensor.sizeBytes + 1));
  for (uint64_t next = begin; next < end; next += step) {
    uint64_t last = std::min(end, next + step);
    uint64_t firstRow = rows * next / units;
    if (auto error = checkScales(*gguf, tensor, firstRow, rows * last / units - firstRow))
      return error;
    packed.pack(weight, bytes, next, last);
  }
  return llvm::Error::success();
}

llvm::Error Model::packWeights() {
  auto weights = Weights::create(compiled.weights);
  if (!weights)
    return weights.takeError();
  packed = std::move(*weights);
  std::atomic<bool> failed{false};
  std::string message;
  for (size_t i = 0; i < compiled.weights.size(); ++i) {
    const gguf::TensorInfo *tensor = gguf->findTensor(compiled.weights[i].name);
    uint64_t units = packed.units(i), rows = tensor->numRows();
    uint64_t step = std::max<uint64_t>(1, units * residentBytes / (tensor->sizeBytes + 1));
    for (uint64_t begin = 0; begin < units; begin += step) {
      uint64_t n = std::min(step, units - begin);
      threads->run([&](unsigned t) {
        auto error = packUnits(i, *tensor, begin + n * t / threads->size(),
                               begin + n * (t + 1) / threads->size());
        if (error && !failed.exchange(true))
          message = llvm::toString(std::move(error));
        else
          llvm::consumeError(std::move(error));
      });
      gguf->releaseRows(*tensor, rows * begin / units,
                        rows * (begin + n) / units - rows * begin / units);
    }
    gguf->releasePages(*tensor);
    if (interrupted())
      return llvm::createStringError(std::errc::interrupted, "%s: interrupted while it was loaded",
                                     opts.path.c_str());
    if (opts.progress)
      opts.progress("repacking weights", double(i + 1) / compiled.weights.size());
  }
  if (failed)
    return llvm::createStringError(message);
  if (llvm::Error error = checkNotCut(*gguf))
    return error;
  return gguf->checkUnchanged();
}

llvm::Expected<const Graph *> Model::plannedGraph() const {
  std::lock_guard<std::mutex> lock(graphMutex);
  if (graph)
    return graph.get();
  auto fresh = buildGraphAt(*gguf, opts, Stage::Planned);
  if (!fresh)
    return fresh.takeError();
  graph = std::make_unique<Graph>(std::move(*fresh));
  return graph.get();
}

} // namespace vetro
