// The values of a random model's tensor, a function of seed, name and index alone: whatever the
// order in which tensors are made, and whatever else the model holds, they are the same.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace vetro {

/// Names decide the distribution: norm weights are 1 +- 0.1, rotation factors 1 and more, biases
/// and other vectors 0 +- 0.1, matrices [.., n, K] 0 +- 1/sqrt(K), so that a matrix times a vector
/// of unit size gives one of unit size. The embedding is a quarter of that: where it is the head
/// too, the layers shall outweigh it, or every token would be followed by itself.
class RandomTensor {
public:
  RandomTensor(uint64_t seed, llvm::StringRef name, llvm::ArrayRef<int64_t> shape);

  /// Values [begin, begin + out.size()) in row-major order.
  void read(uint64_t begin, llvm::MutableArrayRef<float> out) const;

private:
  uint64_t key;
  float mean = 0, deviation;
  bool positive = false; ///< deviations from the mean are upwards
};

} // namespace vetro
