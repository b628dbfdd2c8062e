// Random weights and activations for the kernel tests and the benchmark.
#pragma once
#include "runtime/abi/Layout.h"
#include <random>
#include <string>
#include <vector>

namespace vetro::test {

/// What kinds of values a weight's blocks hold.
enum class Values {
  Ordinary,
  ZeroScale,
  DenormalScale,
  LargeScale,
  AllOnes,
  AllZeros,
  AllSignBits
};
inline constexpr Values allValues[] = {Values::Ordinary,   Values::ZeroScale, Values::DenormalScale,
                                       Values::LargeScale, Values::AllOnes,   Values::AllZeros,
                                       Values::AllSignBits};

/// A weight as the file has it and as the kernels read it.
struct Weight {
  Format format;
  uint64_t n, k;
  std::vector<uint8_t> file;
  std::vector<uint8_t> memory; ///< holds the packed bytes, aligned
  uint8_t *packed;
};

Weight makeWeight(Format f, uint64_t n, uint64_t k, Values values, unsigned seed);

/// T rows of activations as a kernel of format `f` reads them.
struct Activations {
  uint64_t stride;
  std::vector<uint8_t> memory;
  uint8_t *data;
  const uint8_t *token(uint64_t t) const { return data + t * stride; }
};

/// Whether kernels of this format read a8 records; else float rows.
bool readsA8(Format f);

/// Random activations; `extreme`: every quantised value is 127 or -127.
Activations makeActivations(Format f, uint64_t tokens, uint64_t k, bool extreme, unsigned seed);

/// The value of activation i of a token, exactly.
double activation(Format f, const uint8_t *token, uint64_t k, uint64_t i);

} // namespace vetro::test
