// How compiled steps and micro-kernels are called, and how the values they share lie in memory.
// Freestanding: kernel bitcode, the compiler and the plan runner include it.
#pragma once
#include <stdint.h>

namespace vetro {

/// Rows per weight tile: one vector lane per row (Layout.h).
inline constexpr uint32_t tileRows = 16;

/// Positions per KV page. Attention merges partial results page by page, in position order.
inline constexpr uint32_t pagePositions = 256;

/// One micro-batch. All arrays outlive the step. A token's K and V lie at
/// page `pages[sequence * maxPages + position / 256]`, row `position % 256`.
struct VtBatch {
  uint32_t nTokens;          ///< T
  uint32_t nOutputs;         ///< rows the head computes
  const int32_t *tokens;     ///< [T] ids
  const int32_t *positions;  ///< [T] position within the token's sequence
  const int32_t *sequences;  ///< [T] sequence index
  const int32_t *outputRows; ///< [nOutputs] ascending token indices
  const int32_t *pages;      ///< [nSequences][maxPages] page numbers
  uint32_t maxPages;
  // Only for plans that read the cache cell by cell (attention left unfused): the cells of the
  // batch's sequences, sequence by sequence, positions ascending.
  uint32_t nCells;              ///< C; 0 for other plans
  const int32_t *cellPositions; ///< [C]
  const int32_t *cellSequences; ///< [C]
};

/// What a step receives: the addresses of its operands, then of its results, in the IR's order.
struct VtArgs {
  void *const *operands;
  const VtBatch *batch;
  uint8_t *scratch; ///< this step's scratch area; thread t owns [t*scratchStride, +scratchStride)
  uint64_t scratchStride;
};

/// A compiled step computes its units [begin, end); what a unit is, the plan says.
using VtStep = void (*)(const VtArgs *args, uint32_t begin, uint32_t end, uint32_t thread);

/// The activation record "a8": what one token's row of K values (K % 32 == 0) becomes before a
/// quantised matmul. Per 32 values: scale d = max|x| / 127 (F32), q = round-half-even(x / d).
/// Memory of one token: int8 q[K], float d[K/32], int16 sum16[K/16]; padded to 64 bytes.
/// Example: K = 576 -> 576 + 72 + 72 = 720, stride 768.
constexpr uint64_t a8Stride(uint64_t k) { return (k + k / 8 + k / 8 + 63) / 64 * 64; }
constexpr uint64_t a8ScalesOffset(uint64_t k) { return k; }
constexpr uint64_t a8SumsOffset(uint64_t k) { return k + k / 8; }

/// How a row of activations can lie in memory. "a8x2" has 15 bits where "a8" has 7: the row's a8
/// record, then the a8 record of what the first one leaves, x - q * d. A product with it is the sum
/// of the products with both.
struct ActivationFormat {
  const char *name;
  uint32_t records; ///< a8 records per row; 0: floats
};
inline constexpr ActivationFormat activationTable[] = {{"f32", 0}, {"a8", 1}, {"a8x2", 2}};

/// Attention of one layer. Query head h reads KV head h / (nHead / nHeadKV).
struct VtAttention {
  uint32_t nHead, nHeadKV, headDim;
  uint32_t window; ///< a token sees itself and window-1 before it; 0: all before it
  float scale;     ///< multiplies q.k
  float softcap;   ///< scores become softcap * tanh(score / softcap); 0: off
};

} // namespace vetro
