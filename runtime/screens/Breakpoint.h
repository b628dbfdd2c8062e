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

class Breakpoint {
public:
  /// Reads one:
  ///   op:rope                    an op of this name           blk.3.*           values of this
  ///   name layer:3                    the first op of the layer    nan               a number that
  ///   is none absmax>1e3                 a number beyond              token:stai        a token
  ///   with this text pass:fuse-rope             a pass that rewrote          rewrite:rope      a
  ///   rewrite's words drop:top-p:dog             a sampler stage that dropped this piece
  /// Error: a text that is none of them.
  static llvm::Expected<Breakpoint> read(llvm::StringRef text);

  const std::string &text() const { return words; }
  /// Whether to stop at this moment. Errors: what computing values refuses.
  llvm::Expected<bool> hits(Recording &recording, const Moment &moment) const;

private:
  enum class Kind { OpName, ValueName, Layer, Nan, AbsMax, Token, Pass, Rewrite, Drop };
  llvm::Expected<bool> hitsValues(Recording &recording, const Moment &moment) const;
  bool hitsOp(const Json &step) const;
  bool hitsStage(const Json &document, const Moment &moment) const;

  std::string words, argument, piece;
  Kind kind = Kind::ValueName;
  double bound = 0;
  int64_t layer = -1;
};

} // namespace vetro::screens
