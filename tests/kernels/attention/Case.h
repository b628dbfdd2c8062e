// One attention problem: sequences on scattered pages, a batch of their tokens, and the answer in
// double precision.
#pragma once
#include "tests/kernels/attention/Levels.h"

namespace vetro::test {

struct Shape {
  uint32_t nHead = 3, nHeadKV = 1, headDim = 16, window = 0;
  float softcap = 0;
  bool half = true;              ///< F16 cache, else F32
  std::vector<uint32_t> lengths; ///< positions of each sequence
};

/// A cache filled with keys and values of whole sequences; every other slot holds NaN.
class Case {
public:
  Case(const Shape &shape, unsigned seed);

  /// Attention of the tokens (sequence, position), computed as one batch by one level.
  /// cuts: unit ranges are [0, cuts[0]), [cuts[0], cuts[1]) ... [last, all). [T][nHead * headDim]
  struct Token {
    int32_t sequence, position;
  };
  std::vector<float> run(const NativeKernels &level, const std::vector<Token> &tokens,
                         const std::vector<uint32_t> &cuts = {}) const;

  /// The same by definition, with the cache's values, in double precision.
  std::vector<double> reference(const std::vector<Token> &tokens) const;

  /// All tokens of all sequences.
  std::vector<Token> allTokens() const;
  uint32_t width() const { return shape.nHead * shape.headDim; }

  /// Overwrites everything that a token at `position` of `sequence` may not see.
  void poison(int32_t sequence, uint32_t position, float value);

private:
  void fill(unsigned seed);
  const float *q(Token token) const { return &queries[size_t(row(token)) * width()]; }
  uint32_t row(Token token) const; // of queries, keys and values

  Shape shape;
  uint32_t maxPages;
  std::vector<int32_t> pages;      // [nSequences][maxPages]
  std::vector<float> queries;      // [all tokens][nHead * headDim]
  std::vector<float> keys, values; // [all tokens][nHeadKV * headDim], as the cache holds them
  std::vector<uint8_t> kState, vState;
};

} // namespace vetro::test
