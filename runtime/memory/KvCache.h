// The KV cache of a session: pages of 256 positions, handed to sequences as they grow.
#pragma once

#include "runtime/abi/KvPage.h"
#include "runtime/abi/Plan.h"
#include "runtime/memory/Region.h"
#include "llvm/ADT/ArrayRef.h"
#include <algorithm>
#include <vector>

namespace vetro {

/// Page p of a sequence holds its positions [256 p, 256 p + 256); all layers use the same number.
class KvCache {
public:
  /// Room for `nSequences` sequences of `nCtx` positions each.
  static llvm::Expected<KvCache> create(llvm::ArrayRef<PlanState> states, uint32_t nCtx,
                                        uint32_t nSequences);

  void *address(size_t state) const { return regions[state].data(); }
  uint64_t totalBytes() const;

  uint32_t nCtx() const { return context; }
  uint32_t nSequences() const { return uint32_t(lengths.size()); }
  /// Positions stored in a sequence: always 0 .. length-1.
  uint32_t length(uint32_t sequence) const { return lengths[sequence]; }
  /// Appends one position. False: the sequence is full.
  bool append(uint32_t sequence);
  /// Forgets positions from `length` on.
  void truncate(uint32_t sequence, uint32_t length);
  /// Takes back what truncate() forgot, up to `length` positions, as it is stored still: no other
  /// sequence was appended to since.
  void recall(uint32_t sequence, uint32_t length);

  /// [nSequences][maxPages] page numbers, as VtBatch wants them.
  const int32_t *pages() const { return table.data(); }
  uint32_t maxPages() const { return pagesPerSequence; }

  /// The heads of one position as stored, to floats [heads * headDim].
  void read(size_t state, uint32_t sequence, uint32_t position, float *out) const;

private:
  std::vector<PlanState> states;
  std::vector<Region> regions;
  std::vector<int32_t> table, freePages;
  std::vector<uint32_t> lengths;
  uint32_t context = 0, pagesPerSequence = 0;
};

} // namespace vetro
