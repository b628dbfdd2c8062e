// The interpreter as an evaluator.
#include "runtime/engine/Reference.h"
#include "runtime/abi/Dequantize.h"
#include "runtime/abi/Float.h"
#include "runtime/engine/MappedFile.h"
#include "runtime/memory/Signals.h"

namespace vetro {

FileWeights::FileWeights(const gguf::File &file, uint64_t keepBytes) : file(file) {
  uint64_t used = 0;
  if (auto region = Region::reserve(keepBytes, "rows of weights"))
    kept = std::move(*region);
  else
    llvm::consumeError(region.takeError()); // then none are kept
  for (const gguf::TensorInfo &t : file.tensors()) {
    Item &item = items[t.name];
    item.info = &t;
    uint64_t bytes = t.numElements() * sizeof(float);
    if (!t.supported || t.format == Format::F32 || bytes > kept.size() - used)
      continue; // nothing to gain, or no room
    item.rows = reinterpret_cast<float *>(kept.data() + used);
    item.state = std::make_unique<std::atomic<RowState>[]>(t.numRows());
    used += bytes;
  }
}

/// Counts the read; the second one keeps the values.
void FileWeights::keep(const Item &item, int64_t row, const float *values) const {
  uint64_t width = item.info->ne[0];
  RowState seen = RowState::Unread;
  if (item.state[row].compare_exchange_strong(seen, RowState::ReadOnce))
    return;
  seen = RowState::ReadOnce;
  if (!item.state[row].compare_exchange_strong(seen, RowState::Filling))
    return; // another thread is at it
  std::copy_n(values, width, &item.rows[row * width]);
  item.state[row].store(RowState::Kept, std::memory_order_release);
  nKept.fetch_add(1, std::memory_order_relaxed);
}

void FileWeights::readRow(llvm::StringRef name, int64_t row, float *out) const {
  const Item &item = items.find(name)->second;
  const gguf::TensorInfo &t = *item.info;
  uint64_t width = t.ne[0];
  if (item.rows && item.state[row].load(std::memory_order_acquire) == RowState::Kept) {
    std::copy_n(&item.rows[row * width], width, out);
    return;
  }
  dequantizeRow(t.format, file.data(t).data() + row * rowBytes(t.format, width), width, out);
  if (item.rows)
    keep(item, row, out);
}

FloatState::FloatState(mlir::ModuleOp module) {
  for (auto symbol : module.getOps<ir::StateOp>())
    items[symbol.getSymName()].half =
        mlir::cast<ir::StateType>(symbol.getType()).getElement().isF16();
}

void FloatState::store(llvm::StringRef state, int32_t slot, const float *x, int64_t n) {
  Item &item = items.find(state)->second;
  if (item.data.size() < size_t(slot + 1) * n)
    item.data.resize(size_t(slot + 1) * n);
  for (int64_t i = 0; i < n; ++i)
    item.data[slot * n + i] = item.half ? f16ToFloat(floatToF16(x[i])) : x[i];
}

void FloatState::load(llvm::StringRef state, int32_t slot, float *out, int64_t n) const {
  const Item &item = items.find(state)->second;
  std::copy_n(item.data.data() + slot * n, n, out);
}

llvm::Expected<std::unique_ptr<Reference>>
Reference::create(const ModelOptions &options, const SessionOptions &session, Stage stage) {
  std::unique_ptr<Reference> r(new Reference());
  ModelOptions planned = options;
  catchFaults(planned);
  auto file = gguf::File::open(planned.path, planned.open);
  if (!file)
    return file.takeError();
  r->file = std::move(*file);
  auto tokenizer = loadTokenizer(*r->file);
  if (!tokenizer)
    return tokenizer.takeError();
  r->vocab = std::move(*tokenizer);
  auto pool = ThreadPool::create({options.nThreads, options.pin});
  if (!pool)
    return pool.takeError();
  r->pool = std::move(*pool);
  planned.nCtx = session.nCtx;
  auto graph = buildGraphAt(*r->file, planned, stage);
  if (!graph)
    return graph.takeError();
  r->built = std::move(*graph);
  r->context = session.nCtx;
  if (r->context == 0 || (r->built.nCtxTrain && r->context > r->built.nCtxTrain))
    r->context = r->built.nCtxTrain;
  r->lengths.assign(session.nSequences, 0);
  r->weights = std::make_unique<FileWeights>(*r->file);
  r->state = std::make_unique<FloatState>(*r->built.module);
  if (!options.round.empty()) {
    auto rounded =
        RoundedModel::create(options.round, r->built, architectureOf(*r->file), *r->weights);
    if (!rounded)
      return rounded.takeError();
    r->rounded = std::move(*rounded);
    r->interpreterOptions.rounding = r->rounded.get();
  }
  Reference *self = r.get();
  r->interpreterOptions.parallelFor = [self](int64_t n, llvm::function_ref<void(int64_t)> fn) {
    self->pool->run([&](unsigned t) {
      int64_t end = n * (t + 1) / self->pool->size();
      // After Ctrl-C the rest is left undone: decode() throws the result away.
      for (int64_t i = n * t / self->pool->size(); i < end && !interrupted(); ++i)
        fn(i);
    });
  };
  return r;
}

/// The graph's inputs for this batch, in the order of planInputs; appends to the sequences.
std::vector<ref::Tensor> Reference::inputs(llvm::ArrayRef<BatchToken> batch) {
  std::vector<int32_t> tokens, positions, sequences, slots, outputs, cells, cellPos, cellSeq;
  for (const BatchToken &t : batch) {
    uint32_t position = lengths[t.sequence]++;
    if (t.output)
      outputs.push_back(int32_t(tokens.size()));
    tokens.push_back(t.id);
    positions.push_back(int32_t(position));
    sequences.push_back(int32_t(t.sequence));
    slots.push_back(int32_t(t.sequence * context + position));
  }
  for (uint32_t s = 0; s < lengths.size(); ++s)
    for (uint32_t p = 0; llvm::is_contained(sequences, int32_t(s)) && p < lengths[s]; ++p) {
      cells.push_back(int32_t(s * context + p));
      cellPos.push_back(int32_t(p));
      cellSeq.push_back(int32_t(s));
    }
  std::vector<ref::Tensor> result;
  for (const auto *ids :
       {&tokens, &positions, &sequences, &slots, &outputs, &cells, &cellPos, &cellSeq})
    result.push_back(ref::Tensor::ofIds(*ids));
  return result;
}

llvm::Error Reference::decode(llvm::ArrayRef<BatchToken> batch,
                              llvm::function_ref<void(size_t, llvm::ArrayRef<float>)> onLogits) {
  if (llvm::Error error = checkBatch(batch, *this, vocab->nTokens(), lengths.size()))
    return error;
  current = inputs(batch);
  const ref::WeightSource &source = rounded ? rounded->weights() : *weights;
  auto results = ref::interpret(built.forward(), current, source, *state, interpreterOptions);
  if (!results)
    return results.takeError();
  if (llvm::Error error = checkNotCut(*file))
    return error;
  if (interrupted())
    return llvm::Error::success();
  const ref::Tensor &logits = results->front();
  int64_t row = 0;
  for (size_t i = 0; i < batch.size(); ++i)
    if (batch[i].output)
      onLogits(i, {logits.row(row++), size_t(logits.dim(-1))});
  return llvm::Error::success();
}

} // namespace vetro
