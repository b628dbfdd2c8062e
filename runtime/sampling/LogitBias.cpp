// The first stage: biases, by id.
#include "runtime/sampling/LogitBias.h"
#include "llvm/Support/FormatVariadic.h"
#include <cassert>
#include <cmath>

namespace vetro {

void LogitBias::apply(Candidates &c) const {
  assert(c.inIdOrder());
  for (auto [id, bias] : biases)
    c[id].logit += bias;
}

llvm::Error LogitBias::check(size_t nVocab) const {
  for (auto [id, bias] : biases) {
    if (id < 0 || size_t(id) >= nVocab)
      return llvm::createStringError(llvm::formatv(
          "logit-bias: found token {0}, expected 0 to {1}; look the id up with vetro tokenize", id,
          nVocab - 1));
    if (!std::isfinite(bias) && bias != -INFINITY)
      return llvm::createStringError(llvm::formatv(
          "logit-bias of token {0}: found {1}, expected a finite number, or -inf to ban it", id,
          bias));
  }
  return llvm::Error::success();
}

} // namespace vetro
