// The logit lens: what each layer would say were it the last one.
#pragma once

#include "runtime/engine/Recording.h"

namespace vetro::screens {

struct LensLayer {
  std::string name;       ///< of the layer's result: "blk.3.l_out"
  int32_t top1 = 0;       ///< the likeliest id
  std::string piece;      ///< as the vocabulary spells it
  double p = 0;           ///< its probability
  uint64_t drawnRank = 0; ///< of the id that was drawn after the token, from 1; 0: none was
  double drawnP = 0;
};

/// Layer by layer: its result put in the last one's place, the head run again. Empty without a
/// model or without layers. Errors: what running refuses.
llvm::Expected<std::vector<LensLayer>> lensOf(Recording &recording, size_t token);

} // namespace vetro::screens
