// The tokens still in play while the sampler chain runs.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vetro {

struct Candidate {
  int32_t id;
  float logit;
  float p; ///< set by Candidates::softmax()
};

/// The order of all samplers: higher logit first, equal logits by lower id.
inline bool before(const Candidate &a, const Candidate &b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

/// A list of candidates in a buffer of nVocab. It starts in id order (candidate i has id i);
/// samplers shorten and reorder it. A prefix of `sorted` candidates is in order and before all
/// others.
class Candidates {
public:
  explicit Candidates(size_t nVocab) : buffer(nVocab), n(0), sorted(0) {}

  /// All tokens with these logits, in id order. logits.size() == nVocab.
  void fill(llvm::ArrayRef<float> logits);

  size_t size() const { return n; }
  Candidate &operator[](size_t i) { return buffer[i]; }
  const Candidate &operator[](size_t i) const { return buffer[i]; }
  llvm::ArrayRef<Candidate> list() const { return {buffer.data(), n}; }

  /// Whether candidate i still has id i, which holds until something sorts or cuts.
  bool inIdOrder() const { return n == buffer.size() && sorted == 0; }

  /// Brings the first `count` candidates into order. Costs one pass over the unsorted rest.
  void sortPrefix(size_t count);
  size_t sortedPrefix() const { return sorted; }

  /// Keeps the first `count` (>= 1) candidates.
  void keepFirst(size_t count);

  /// Keeps the candidates with logit >= threshold, in their order; at least the best one.
  void keepFrom(float threshold);

  /// The highest logit.
  float maxLogit() const;

  /// Sets p = exp(logit - max) of each candidate and returns the sum of them, so that p / sum is
  /// the probability. Sums in F64, in list order.
  double softmax();

private:
  std::vector<Candidate> buffer;
  size_t n, sorted;
};

} // namespace vetro
