// Seeded numbers of a normal distribution.
#pragma once
#include <random>
#include <vector>

namespace vetro::test {

/// n values of mean 0 and standard deviation `scale`, from the seed alone.
inline std::vector<float> normals(size_t n, unsigned seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(n);
  for (float &v : values)
    v = normal(random);
  return values;
}

} // namespace vetro::test
