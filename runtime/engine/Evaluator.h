// What turns a batch of tokens into logits: the compiled plan (Session) or the interpreter.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace vetro {

/// One token of a batch. Its position is the next one of its sequence.
struct BatchToken {
  int32_t id;
  uint32_t sequence = 0;
  bool output = false; ///< whether its logits are wanted
};

class Evaluator {
public:
  virtual ~Evaluator() = default;

  /// Appends the tokens to their sequences, in order. `onLogits(i, logits)` is called for each
  /// token i that wants them, in order; the logits are valid during the call. Errors: an id outside
  /// the vocabulary, a sequence that is full or unknown; then nothing has run. After Ctrl-C
  /// (runtime/memory/Signals.h) it may return without calling for the rest.
  virtual llvm::Error decode(llvm::ArrayRef<BatchToken> batch,
                             llvm::function_ref<void(size_t, llvm::ArrayRef<float>)> onLogits) = 0;

  virtual uint32_t nCtx() const = 0;
  virtual uint32_t length(uint32_t sequence) const = 0;
  /// Forgets positions of a sequence from `length` on.
  virtual void truncate(uint32_t sequence, uint32_t length) = 0;
};

/// What decode() refuses: see there.
llvm::Error checkBatch(llvm::ArrayRef<BatchToken> batch, const Evaluator &evaluator,
                       uint64_t nVocab, uint32_t nSequences);

} // namespace vetro
