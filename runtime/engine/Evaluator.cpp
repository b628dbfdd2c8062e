// What every evaluator refuses.
#include "runtime/engine/Evaluator.h"

#include "llvm/ADT/STLExtras.h"

namespace vetro {

llvm::Error checkBatch(llvm::ArrayRef<BatchToken> batch, const Evaluator &evaluator,
                       uint64_t nVocab, uint32_t nSequences) {
  for (const BatchToken &t : batch) {
    if (t.id < 0 || uint64_t(t.id) >= nVocab)
      return llvm::createStringError("token id %d is outside the vocabulary of %llu", t.id,
                                     (unsigned long long)nVocab);
    if (t.sequence >= nSequences)
      return llvm::createStringError("sequence %u is unknown; the session holds %u", t.sequence,
                                     nSequences);
  }
  for (uint32_t s = 0; s < nSequences; ++s) {
    size_t added = llvm::count_if(batch, [&](const BatchToken &t) { return t.sequence == s; });
    if (evaluator.length(s) + added > evaluator.nCtx())
      return llvm::createStringError("the context of %u positions is full: %u are used, %zu more "
                                     "are asked for; use a larger one (-c, in Python n_ctx)",
                                     evaluator.nCtx(), evaluator.length(s), added);
  }
  return llvm::Error::success();
}

} // namespace vetro
