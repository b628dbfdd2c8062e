// The levels that this processor can run, and seeded numbers, for the tests of this folder.
#pragma once
#include "runtime/kernels/cpu/Bitcode.h"
#include "runtime/kernels/cpu/Native.h"
#include "tests/unit/Normals.h"
#include <string>

namespace vetro::test {

/// Kernels of the levels that this processor can run; scalar is the first. Says which it skips.
std::vector<const NativeKernels *> runnableLevels();

/// Whether the level has fused multiply-add: all that have give the same bits.
inline bool hasFma(const NativeKernels &kernels) { return std::string(kernels.level) != "scalar"; }

/// Sum of squared differences over sum of squares.
double nmse(const std::vector<float> &got, const std::vector<double> &expected);

/// Same length and same bits, NaN included.
bool sameBits(const std::vector<float> &a, const std::vector<float> &b);

} // namespace vetro::test
