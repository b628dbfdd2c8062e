// Which levels run here; numbers and comparisons.
#include "tests/kernels/attention/Levels.h"
#include "tests/unit/TestData.h"
#include <cstring>

namespace vetro::test {

std::vector<const NativeKernels *> runnableLevels() {
  std::vector<const NativeKernels *> levels;
  for (unsigned i = 0; i < numKernelLevels; ++i) {
    const NativeKernels *kernels = nativeKernels() + i;
    if (cpuHasLevel(kernels->level))
      levels.push_back(kernels);
    else
      skip(std::string("level ") + kernels->level + ": this processor lacks it");
  }
  return levels;
}

double nmse(const std::vector<float> &got, const std::vector<double> &expected) {
  double difference = 0, power = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    difference += (got[i] - expected[i]) * (got[i] - expected[i]);
    power += expected[i] * expected[i];
  }
  return difference / power;
}

bool sameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

} // namespace vetro::test
