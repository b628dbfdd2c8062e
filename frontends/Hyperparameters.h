// The keys every text model reads, checked once for all architectures.
#pragma once

#include "frontends/Blocks.h"

namespace vetro {

struct Hyperparameters {
  int64_t nLayer, nEmbd, nVocab, nCtx;
  std::vector<int64_t> nHead, nHeadKV, nFf; ///< one per layer
  int64_t headDim;                          ///< size of a query, key or value head
  float eps;                                ///< of the RMS norms
};

/// Reads and checks them; errors are sticky in `blocks`.
Hyperparameters readHyperparameters(Blocks &blocks);

/// Numbers of experts; zeros for a dense model.
ExpertSpec readExperts(Blocks &blocks);

/// Rotary embedding: dimension count, base, scaling kind (none, linear, yarn,
/// longrope) and the tensors of factors that go with it.
/// `mode`: norm or neox, a property of the architecture.
RopeSpec readRope(Blocks &blocks, llvm::StringRef mode, const Hyperparameters &h);

} // namespace vetro
