// The random numbers of sampling: small, documented, the same on every machine.
#pragma once
#include <bit>
#include <cstdint>

namespace vetro {

/// xoshiro256** 1.0 (Blackman, Vigna, "Scrambled linear pseudorandom number generators", 2018), its
/// four words filled by SplitMix64 from a 64-bit seed, as its authors advise.
struct Rng {
  uint64_t s[4];

  static constexpr Rng seeded(uint64_t seed) {
    Rng rng{};
    for (uint64_t &word : rng.s)
      word = splitMix64(seed);
    return rng;
  }

  /// SplitMix64: advances `x` and returns the next word.
  static constexpr uint64_t splitMix64(uint64_t &x) {
    uint64_t z = x += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  constexpr uint64_t next() {
    uint64_t result = std::rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = std::rotl(s[3], 45);
    return result;
  }

  /// Uniform in [0, 1): the upper 53 bits.
  constexpr double uniform() { return double(next() >> 11) * 0x1p-53; }

  friend bool operator==(const Rng &, const Rng &) = default;
};

} // namespace vetro
