// How well a model predicts a text: chunks of one length run from an empty context, as llama.cpp's
// llama-perplexity cuts them, and each position that counts is handed out with its logits.
//
// Without a stride chunks lie one after the other and the second half of each counts, so that every
// prediction has half a chunk of context: of 512 tokens positions 256 to 510, which predict tokens
// 257 to 511. With a stride chunks overlap, each begins `stride` tokens after the one before it,
// and its last `stride` tokens count. (llama.cpp widens the chunk by half a stride and puts no BOS
// into it; its --ctx-size 512 --ppl-stride 128 are the chunks of ctx 576, stride 128.)
#pragma once

#include "runtime/compare/Divergence.h"
#include "runtime/engine/Evaluator.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace vetro {

struct Chunks {
  uint32_t nCtx = 512;  ///< tokens in a chunk
  uint32_t step = 512;  ///< tokens from the begin of one to that of the next
  uint32_t first = 256; ///< the first position of a chunk that counts; the last is nCtx - 2
  uint64_t count = 0;
  int32_t bos = -1; ///< takes the place of each chunk's first token; -1: nothing does

  uint64_t rowsPerChunk() const { return nCtx - 1 - first; }
};

/// Cuts a text of `nTokens` into chunks, at most `most` (0: all). stride 0: no overlap. Error: the
/// text is shorter than two chunks; a chunk of fewer than 3 tokens; a stride that is not below
/// nCtx.
llvm::Expected<Chunks> cutIntoChunks(uint64_t nTokens, uint32_t nCtx, uint32_t stride,
                                     uint64_t most);

/// A position that counts: the row's number over all chunks, its logits (valid during the call) and
/// the token that came next.
using OnPosition =
    llvm::function_ref<llvm::Error(uint64_t row, llvm::ArrayRef<float> logits, int32_t next)>;

/// Runs one chunk in sequence 0, which is emptied first, and hands out its positions in order.
/// `tokens`: the whole text. Error: what the evaluator or `onPosition` refuses; logits that are no
/// numbers; Ctrl-C.
llvm::Error runChunk(Evaluator &evaluator, const Chunks &chunks, uint64_t chunk,
                     llvm::ArrayRef<int32_t> tokens, OnPosition onPosition);

/// -ln p(next), the sum of the softmax in double.
double negativeLogLikelihood(llvm::ArrayRef<float> logits, int32_t next);

/// exp of the mean of -ln p; its error is the mean's, times it.
Estimate perplexity(const Moments &nll);

} // namespace vetro
