// What happened inside the chain for one token, on request: the sampler funnel of the viewers.
#pragma once
#include "runtime/sampling/Candidates.h"
#include <array>

namespace vetro {

/// Filled by Chain::sample. Made once and reused: recording does not allocate either.
class SampleRecord {
public:
  struct Stage {
    const char *name = nullptr;
    bool active = false;
    uint32_t in = 0, out = 0;   ///< number of candidates before and after
    double massRemoved = 0;     ///< probability, before the stage, of what it cut
    double entropyBits = 0;     ///< of the distribution after it
    std::vector<Candidate> top; ///< the best after it, in order, p normalised; empty if inactive
  };
  static constexpr uint8_t survived = 255;

  /// nVocab: of the chain; nTop: candidates kept per stage.
  SampleRecord(size_t nVocab, size_t nTop);

  /// Stage 0 is "logits", untouched; then the chain's stages; the last is "dist" or "greedy", whose
  /// one candidate is the picked token.
  llvm::ArrayRef<Stage> stages() const { return {buffer.data(), nStages}; }
  /// The stage that removed this token, or `survived` for the picked one.
  uint8_t cutBy(int32_t id) const { return cut[id]; }
  /// The random number in [0, 1) that picked the token; 0 where greedy.
  double draw() const { return drawn; }

  // For the chain, in this order: begin, one add per stage, finish.
  void begin(const Candidates &raw);
  void add(const char *name, bool active, const Candidates &c);
  void finish(const char *name, const Candidate &picked, double draw);

private:
  void picture(Stage &stage, llvm::ArrayRef<Candidate> list);

  std::array<Stage, 10> buffer;
  size_t nStages = 0, nTop;
  std::vector<uint8_t> cut, seen; // [nVocab]
  std::vector<double> weights;    // [nVocab] of the last active stage's candidates, by id
  double total = 1;               // of those weights: a candidate's probability is weight / total
  double drawn = 0;
};

} // namespace vetro
