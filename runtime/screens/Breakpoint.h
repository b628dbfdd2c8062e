// Where a walk through a recording stops.
#pragma once

#include "runtime/screens/Cycle.h"

namespace vetro::screens {

/// A point of a walk, in the order of the cycle: the rewrites of the passes, then for each token
/// the plan's steps and the sampler's stages.
struct Moment {
  enum Kind { Rewrite, Op, Stage } kind = Rewrite;
  size_t token = 0; ///< of Op and Stage
  size_t index = 0; ///< of the pass, the plan's step, the sampler's stage
  size_t part = 0;  ///< of Rewrite: which one of the pass

  friend auto operator<=>(const Moment &, const Moment &) = default;
};

/// The moments of a recording before or after one; none: it was the last.
std::optional<Moment> nextMoment(const Json &document, size_t nRun, Moment moment, bool back);
/// Where one stands at a place, and the place of a moment.
Moment momentOf(const Place &place);
Place placeOf(const Moment &moment, Place place);

/// One of each kind: an op, values by a pattern, the first op of a layer, a number that is none,
/// one beyond a bound, a value with fewer dB above its error than these (where there is a
/// comparison), a token by its text, a pass that rewrote, words of a rewrite, a sampler stage that
/// dropped a piece.
inline constexpr llvm::StringLiteral breakpointForms =
    "op:rope blk.3.* layer:3 nan absmax>1e3 diff.snr<30 token:dog pass:fuse-rope rewrite:rope "
    "drop:top-p:dog";

class Breakpoint {
public:
  /// Reads one; `breakpointForms` has an example of each. Error: a text that is none of them.
  static llvm::Expected<Breakpoint> read(llvm::StringRef text);

  const std::string &text() const { return words; }
  /// Whether to stop at this moment. Errors: what computing values refuses.
  llvm::Expected<bool> hits(Recording &recording, const Moment &moment) const;

private:
  enum class Kind { OpName, ValueName, Layer, Nan, AbsMax, Difference, Token, Pass, Rewrite, Drop };
  llvm::Expected<bool> hitsValues(Recording &recording, const Moment &moment) const;
  llvm::Expected<bool> hitsDifference(const Recording &recording, const Moment &moment) const;
  bool hitsOp(const Json &step) const;
  llvm::Expected<bool> hitsStage(Recording &recording, const Moment &moment) const;

  std::string words, argument, piece;
  Kind kind = Kind::ValueName;
  double bound = 0;
  int64_t layer = -1;
};

} // namespace vetro::screens
