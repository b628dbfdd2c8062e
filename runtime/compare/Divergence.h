// How far one run's predictions of a text are from another's, whose log probabilities were saved
// (runtime/trace/SavedLogits.h): figure for figure what llama.cpp's llama-perplexity prints with
// --kl-divergence.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace vetro {

/// Mean and its standard error of numbers that come one by one: their order decides the bits.
/// Welford 1962, "Note on a method for calculating corrected sums of squares and products".
class Moments {
public:
  void add(double x);
  uint64_t count() const { return n; }
  double mean() const { return average; }
  /// Of the mean: the sample's deviation over sqrt(n); 0 for fewer than two numbers.
  double error() const;

private:
  uint64_t n = 0;
  double average = 0, squares = 0; ///< squares: sum of (x - average)^2
};

/// What one position says. `kl`: KL(base || ours) in nats over the tokens that the base holds to be
/// likelier than e^-16; what is less likely the saved file does not tell.
struct PositionDivergence {
  double kl = 0;
  double nll = 0, nllBase = 0; ///< -ln p of the token that came
  double deltaP = 0;           ///< p - p of the base, of that token
  bool sameTop = false;        ///< both hold the same token to be the likeliest
};

/// `logits` of ours, the base's ln p of each token, and the token `next` that came.
PositionDivergence divergence(llvm::ArrayRef<float> logits, llvm::ArrayRef<float> base,
                              int32_t next);

/// A value with its standard error.
struct Estimate {
  double value = 0, error = 0;
};

/// Gathers positions, in order.
class DivergenceStatistics {
public:
  void add(const PositionDivergence &position);

  uint64_t count() const { return klMoments.count(); }
  Estimate kl() const { return {klMoments.mean(), klMoments.error()}; }
  Estimate nllBase() const { return {base.mean(), base.error()}; }
  /// Of nll less the base's at the same position: ln of the ratio of both perplexities.
  Estimate nllDifference() const { return {difference.mean(), difference.error()}; }
  Estimate deltaP() const { return {delta.mean(), delta.error()}; }
  Estimate rmsDeltaP() const;
  Estimate sameTop() const; ///< a share, 0 to 1
  /// Of kl and of deltaP, 0 to 1: 0.5 is the median; between two values a straight line.
  std::vector<double> klAt(llvm::ArrayRef<double> fractions) const;
  std::vector<double> deltaPAt(llvm::ArrayRef<double> fractions) const;

private:
  Moments klMoments, base, difference, delta, deltaSquared;
  uint64_t nSameTop = 0;
  std::vector<double> kls, deltas;
};

} // namespace vetro
