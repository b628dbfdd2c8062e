// Makes tokens less likely that were produced lately.
#pragma once
#include "runtime/sampling/Candidates.h"
#include "runtime/sampling/History.h"

namespace vetro {

/// For each token that occurs `count` times among the last `lastN` accepted ones (llama.cpp's
/// formula): logit = logit > 0 ? logit / repeat : logit * repeat, then
/// logit -= count * frequency + presence. Needs id order.
struct Penalties {
  static constexpr const char *name = "penalties";
  uint32_t lastN = 64;
  float repeat = 1, frequency = 0, presence = 0;

  bool active() const { return lastN && (repeat != 1 || frequency != 0 || presence != 0); }
  /// `scratch` holds at least history.tokens().size() entries; its content is overwritten.
  void apply(Candidates &c, const History &history, std::vector<int32_t> &scratch) const;
};

} // namespace vetro
