// Batch to micro-batches, and their run.
#include "runtime/engine/Session.h"
#include "runtime/engine/Compile.h"
#include "runtime/engine/MappedFile.h"
#include "runtime/memory/Signals.h"

namespace vetro {

/// Whether steps run over cells: only where attention is left unfused; fused, it walks the pages.
static bool readsByCell(const Plan &plan) {
  return llvm::any_of(plan.buffers, [](const PlanExtent &e) { return e.cells > 0; });
}

llvm::Expected<std::unique_ptr<Session>> Session::create(std::shared_ptr<const Model> model,
                                                         SessionOptions options) {
  std::unique_ptr<Session> s(new Session(std::move(model)));
  uint32_t train = s->owner->trainContext();
  if (options.nCtx == 0 || (train && options.nCtx > train))
    options.nCtx = train;
  if (uint32_t most = plannedContext(s->owner->file(), s->owner->options()); options.nCtx > most)
    return llvm::createStringError("the model was loaded for %u positions, which decide its rope "
                                   "factors, and %u are asked for; load it with nCtx = %u",
                                   most, options.nCtx, options.nCtx);
  options.nUbatch = std::clamp(options.nUbatch, 1u, options.nCtx);
  options.nOutputs = std::clamp(options.nOutputs, 1u, options.nUbatch);
  s->opts = options;
  auto cache = KvCache::create(s->owner->plan().states, options.nCtx, options.nSequences);
  if (!cache)
    return cache.takeError();
  s->cache = std::move(*cache);
  for (std::vector<int32_t> *array :
       {&s->tokens, &s->positions, &s->sequences, &s->slots, &s->outputs})
    array->resize(options.nUbatch);
  if (readsByCell(s->owner->plan()))
    for (std::vector<int32_t> *array : {&s->cells, &s->cellPositions, &s->cellSequences})
      array->resize(size_t(options.nCtx) * options.nSequences);
  const int32_t *inputs[] = {s->tokens.data(),        s->positions.data(),    s->sequences.data(),
                             s->slots.data(),         s->outputs.data(),      s->cells.data(),
                             s->cellPositions.data(), s->cellSequences.data()};
  auto plan = PlanRunner::create(*s->owner, s->cache, inputs, options.nUbatch, options.nOutputs,
                                 options.nCtx * options.nSequences);
  if (!plan)
    return plan.takeError();
  s->plan = std::move(*plan);
  s->batch = {0,
              0,
              s->tokens.data(),
              s->positions.data(),
              s->sequences.data(),
              s->outputs.data(),
              s->cache.pages(),
              s->cache.maxPages(),
              0,
              s->cellPositions.data(),
              s->cellSequences.data()};
  return s;
}

/// Fills the micro-batch that starts at token `begin`; returns its end.
size_t Session::fill(llvm::ArrayRef<BatchToken> all, size_t begin) {
  batch.nTokens = batch.nOutputs = 0;
  size_t i = begin;
  for (; i < all.size() && batch.nTokens < opts.nUbatch; ++i) {
    const BatchToken &token = all[i];
    if (token.output && batch.nOutputs == opts.nOutputs)
      break;
    uint32_t t = batch.nTokens++, position = cache.length(token.sequence);
    cache.append(token.sequence);
    tokens[t] = token.id;
    positions[t] = int32_t(position);
    sequences[t] = int32_t(token.sequence);
    slots[t] = int32_t(token.sequence * cache.nCtx() + position);
    if (token.output)
      outputs[batch.nOutputs++] = int32_t(t);
  }
  if (!cells.empty())
    listCells();
  return i;
}

/// The cells of the micro-batch's sequences, sequence by sequence, positions ascending. A token's
/// own cells thus keep their order whatever else is in the batch.
void Session::listCells() {
  llvm::ArrayRef<int32_t> present(sequences.data(), batch.nTokens);
  uint32_t n = 0;
  for (uint32_t s = 0; s < cache.nSequences(); ++s) {
    if (!llvm::is_contained(present, int32_t(s)))
      continue;
    for (uint32_t position = 0; position < cache.length(s); ++position, ++n) {
      cells[n] = int32_t(s * cache.nCtx() + position);
      cellPositions[n] = int32_t(position);
      cellSequences[n] = int32_t(s);
    }
  }
  batch.nCells = n;
}

llvm::Error Session::decode(llvm::ArrayRef<BatchToken> all,
                            llvm::function_ref<void(size_t, llvm::ArrayRef<float>)> onLogits) {
  if (llvm::Error error = checkBatch(all, *this, owner->plan().nVocab, cache.nSequences()))
    return error;
  size_t nVocab = owner->plan().nVocab;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = fill(all, begin);
    plan.run(batch, observer, clock);
    if (llvm::Error error = checkNotCut(owner->file()))
      return error;
    for (uint32_t o = 0; o < batch.nOutputs; ++o)
      onLogits(begin + outputs[o], {plan.logits() + o * nVocab, nVocab});
    begin = end;
    if (opts.progress && end < all.size())
      opts.progress(double(end) / double(all.size()));
    if (interrupted())
      break;
  }
  return llvm::Error::success();
}

llvm::Error Session::revisit(uint32_t position, int32_t id,
                             llvm::function_ref<llvm::Error(llvm::ArrayRef<float>)> look) {
  assert(cache.nSequences() == 1 && position < cache.length(0));
  uint32_t length = cache.length(0);
  cache.truncate(0, position);
  std::vector<float> logits;
  llvm::Error error = decode({{id, 0, true}}, [&](size_t, llvm::ArrayRef<float> row) {
    logits.assign(row.begin(), row.end());
  });
  if (!error)
    error = look(logits);
  cache.recall(0, length);
  return error;
}

} // namespace vetro
