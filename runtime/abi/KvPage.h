// Where a cached key or value lies: the only place that knows.
//
// The K and the V state of a layer are each an array of pages of 256 positions of one sequence;
// elements are f16 or f32.
//   K page  [nHeadKV][16 groups][headDim][16 positions]   scores: one vector lane per position
//   V page  [nHeadKV][256 positions][headDim]             sums: one vector lane per dimension
// Example: headDim 64, position 300 of a sequence whose pages are {7, 2}: page 2, row 44. Element d
// of KV head 1 is K element (1*16 + 2)*64*16 + d*16 + 12 and V element (1*256 + 44)*64 + d of it.
#pragma once
#include "runtime/abi/Kernel.h"

namespace vetro {

/// Positions that lie side by side in a K page.
inline constexpr uint32_t groupPositions = 16;

/// Elements of a K or a V page.
constexpr uint64_t kvPageElements(uint32_t nHeadKV, uint32_t headDim) {
  return uint64_t(nHeadKV) * pagePositions * headDim;
}

/// Element d of a head is at kOffset(...) + d * groupPositions of the K state.
///   pages  of the position's sequence
constexpr uint64_t kOffset(const int32_t *pages, uint32_t position, uint32_t head, uint32_t nHeadKV,
                           uint32_t headDim) {
  uint64_t page = uint64_t(pages[position / pagePositions]);
  uint32_t row = position % pagePositions;
  uint64_t group = uint64_t(head) * (pagePositions / groupPositions) + row / groupPositions;
  return page * kvPageElements(nHeadKV, headDim) + group * headDim * groupPositions +
         row % groupPositions;
}

/// Element d of a head is at vOffset(...) + d of the V state.
constexpr uint64_t vOffset(const int32_t *pages, uint32_t position, uint32_t head, uint32_t nHeadKV,
                           uint32_t headDim) {
  uint64_t page = uint64_t(pages[position / pagePositions]);
  uint32_t row = position % pagePositions;
  return page * kvPageElements(nHeadKV, headDim) + (uint64_t(head) * pagePositions + row) * headDim;
}

/// The page numbers of a token's sequence.
constexpr const int32_t *tokenPages(const VtBatch &batch, uint32_t token) {
  return batch.pages + uint64_t(batch.sequences[token]) * batch.maxPages;
}

} // namespace vetro
