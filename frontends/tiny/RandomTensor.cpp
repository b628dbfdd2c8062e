// Values of random tensors. Integers and single roundings only, so that every machine gets the
// same.
#include "frontends/tiny/RandomTensor.h"

#include <cmath>

namespace vetro {

/// The finaliser of splitmix64 (Steele et al. 2014).
static uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/// FNV-1a.
static uint64_t hash(llvm::StringRef text) {
  uint64_t h = 0xcbf29ce484222325;
  for (char c : text)
    h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return h;
}

/// About normal, mean 0, deviation 1: the sum of four uniform 16-bit numbers, centred, over its
/// deviation sqrt(4 / 12) * 2^16.
static float normal(uint64_t bits) {
  int sum =
      int(bits & 0xffff) + int(bits >> 16 & 0xffff) + int(bits >> 32 & 0xffff) + int(bits >> 48);
  return static_cast<float>(sum - 131070) * (1.7320508f / 65536);
}

RandomTensor::RandomTensor(uint64_t seed, llvm::StringRef name, llvm::ArrayRef<int64_t> shape)
    : key(mix(hash(name) + mix(seed))), deviation(0.1f) {
  if (shape.size() > 1) {
    deviation = 1 / std::sqrt(static_cast<float>(shape.back()));
    if (name == "token_embd.weight")
      deviation /= 4;
  } else if (name.starts_with("rope_f")) {
    mean = 1, deviation = 0.5f, positive = true;
  } else if (name.ends_with("norm.weight")) {
    mean = 1;
  }
}

void RandomTensor::read(uint64_t begin, llvm::MutableArrayRef<float> out) const {
  for (size_t i = 0; i < out.size(); ++i) {
    float z = normal(mix(key + (begin + i + 1) * 0x9e3779b97f4a7c15));
    out[i] = mean + deviation * (positive ? std::abs(z) : z);
  }
}

} // namespace vetro
