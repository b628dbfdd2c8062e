// Chunks of a text, one after the other.
#include "runtime/compare/Perplexity.h"
#include "runtime/compare/Metrics.h"
#include "runtime/memory/Signals.h"

#include <cmath>

namespace vetro {

llvm::Expected<Chunks> cutIntoChunks(uint64_t nTokens, uint32_t nCtx, uint32_t stride,
                                     uint64_t most) {
  if (nCtx < 3)
    return llvm::createStringError("chunks of %u tokens predict nothing, expected at least 3",
                                   nCtx);
  if (stride >= nCtx)
    return llvm::createStringError("a stride of %u leaves gaps between chunks of %u tokens, "
                                   "expected less than that",
                                   stride, nCtx);
  if (nTokens < 2 * uint64_t(nCtx))
    return llvm::createStringError("the text has %llu tokens, expected at least two chunks of %u: "
                                   "give a longer text or a smaller --ctx",
                                   (unsigned long long)nTokens, nCtx);
  Chunks chunks;
  chunks.nCtx = nCtx;
  chunks.step = stride ? stride : nCtx;
  chunks.first = stride ? nCtx - stride - 1 : nCtx / 2;
  chunks.count = stride ? (nTokens - nCtx + stride - 1) / stride : nTokens / nCtx;
  if (most)
    chunks.count = std::min(chunks.count, most);
  return chunks;
}

static bool isSound(llvm::ArrayRef<float> logits) {
  return llvm::none_of(logits, [](float v) { return std::isnan(v) || v == INFINITY; }) &&
         std::isfinite(*llvm::max_element(logits));
}

llvm::Error runChunk(Evaluator &evaluator, const Chunks &chunks, uint64_t chunk,
                     llvm::ArrayRef<int32_t> tokens, OnPosition onPosition) {
  llvm::ArrayRef<int32_t> text = tokens.slice(chunk * chunks.step, chunks.nCtx);
  std::vector<BatchToken> batch;
  for (auto [i, id] : llvm::enumerate(text.drop_back()))
    batch.push_back({i == 0 && chunks.bos >= 0 ? chunks.bos : id, 0, i >= chunks.first});
  llvm::Error wrong = llvm::Error::success();
  uint64_t row = chunk * chunks.rowsPerChunk();
  auto onLogits = [&](size_t i, llvm::ArrayRef<float> logits) {
    if (wrong)
      return;
    wrong = isSound(logits)
                ? onPosition(row++, logits, text[i + 1])
                : llvm::createStringError("the logits after token %zu of chunk %llu are no numbers",
                                          i, (unsigned long long)chunk + 1);
  };
  evaluator.truncate(0, 0);
  if (llvm::Error error = evaluator.decode(batch, onLogits))
    return llvm::joinErrors(std::move(error), std::move(wrong));
  if (!wrong && interrupted())
    return llvm::createStringError("interrupted");
  return wrong;
}

double negativeLogLikelihood(llvm::ArrayRef<float> logits, int32_t next) {
  return logSumExp(logits) - logits[next];
}

Estimate perplexity(const Moments &nll) {
  double value = std::exp(nll.mean());
  return {value, value * nll.error()};
}

} // namespace vetro
