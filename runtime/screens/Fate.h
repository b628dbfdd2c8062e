// Why was this piece not drawn: a candidate's way through the sampler's stages.
#pragma once

#include "runtime/engine/Recording.h"

namespace vetro::screens {

/// How a candidate ended.
struct Fate {
  enum End {
    Drawn,
    Stayed,  ///< to the draw, `stage`, which took another
    Dropped, ///< by `stage`
    Unlisted ///< somewhere behind the candidates that the trace lists of `stage`
  } end = Unlisted;
  int32_t id = 0;
  std::string piece; ///< as the vocabulary spells it
  size_t stage = 0;  ///< its index; of Drawn the last one's
  std::string stageName;
  double p = 0;             ///< the last that is known: its share of the candidates left
  uint64_t rank = 0;        ///< among them, from 1; 0: it was never seen
  uint64_t in = 0, out = 0; ///< how many candidates `stage` had and kept

  /// "Ġdog: dropped by top-k at p 0.01 (number 43 of 1024, it kept 40)".
  std::string words() const;
};

class Fates {
public:
  /// Of every candidate where the recording has its model, else of those that the trace lists. The
  /// sampler drew after this token. Errors: what running refuses.
  static llvm::Expected<Fates> of(Recording &recording, size_t token);

  /// The ids that are written so: as the vocabulary spells them or, where none is, without the mark
  /// of a space before them; the likeliest first.
  std::vector<int32_t> idsOf(llvm::StringRef piece) const;
  Fate operator[](int32_t id) const;

private:
  struct Stage {
    std::string name;
    bool active;
    uint64_t out;
    std::vector<Candidate> listed; ///< the best first
  };
  std::string pieceOf(int32_t id) const;

  const Model *model = nullptr;
  std::vector<Stage> stages;
  std::vector<std::pair<int32_t, std::string>> pieces; ///< that the trace lists, best first
  int32_t drawn = -1;
};

/// Why a piece was not drawn after a token, in words, and the stage to look at, if there is one.
struct Why {
  std::string words;
  std::optional<size_t> stage = {};
};
/// Errors: Fates::of's.
llvm::Expected<Why> whyNot(Recording &recording, size_t token, llvm::StringRef piece);

} // namespace vetro::screens
