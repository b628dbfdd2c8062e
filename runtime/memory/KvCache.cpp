// Pages of the KV cache.
#include "runtime/memory/KvCache.h"
#include "runtime/abi/Float.h"

namespace vetro {

static uint64_t elementBytes(const PlanState &s) { return s.element == "f16" ? 2 : 4; }

llvm::Expected<KvCache> KvCache::create(llvm::ArrayRef<PlanState> states, uint32_t nCtx,
                                        uint32_t nSequences) {
  KvCache cache;
  cache.context = nCtx;
  cache.pagesPerSequence = (nCtx + pagePositions - 1) / pagePositions;
  uint32_t nPages = cache.pagesPerSequence * nSequences;
  for (const PlanState &s : states) {
    uint64_t bytes = kvPageElements(s.heads, s.headDim) * nPages * elementBytes(s);
    auto region = Region::reserve(bytes, "the KV cache");
    if (!region)
      return region.takeError();
    cache.regions.push_back(std::move(*region));
    cache.states.push_back(s);
  }
  cache.table.assign(nPages, 0);
  cache.lengths.assign(nSequences, 0);
  for (uint32_t page = nPages; page-- > 0;)
    cache.freePages.push_back(page);
  return cache;
}

uint64_t KvCache::totalBytes() const {
  uint64_t total = 0;
  for (const Region &region : regions)
    total += region.size();
  return total;
}

bool KvCache::append(uint32_t sequence) {
  uint32_t &length = lengths[sequence];
  if (length >= context)
    return false;
  if (length % pagePositions == 0) {
    table[sequence * pagesPerSequence + length / pagePositions] = freePages.back();
    freePages.pop_back();
  }
  ++length;
  return true;
}

void KvCache::truncate(uint32_t sequence, uint32_t length) {
  uint32_t had = (lengths[sequence] + pagePositions - 1) / pagePositions;
  uint32_t keeps = (length + pagePositions - 1) / pagePositions;
  for (uint32_t page = had; page-- > keeps;)
    freePages.push_back(table[sequence * pagesPerSequence + page]);
  lengths[sequence] = std::min(lengths[sequence], length);
}

void KvCache::recall(uint32_t sequence, uint32_t length) {
  // Pages come back in the order in which truncate() gave them away, the last one first.
  while (lengths[sequence] < length && append(sequence)) {
  }
}

void KvCache::read(size_t state, uint32_t sequence, uint32_t position, float *out) const {
  const PlanState &s = states[state];
  const int32_t *of = table.data() + sequence * pagesPerSequence;
  const uint8_t *base = regions[state].data();
  for (uint32_t h = 0; h < s.heads; ++h)
    for (uint32_t d = 0; d < s.headDim; ++d) {
      uint64_t i = s.kind == "k" ? kOffset(of, position, h, s.heads, s.headDim) + d * groupPositions
                                 : vOffset(of, position, h, s.heads, s.headDim) + d;
      float &to = out[h * s.headDim + d];
      if (s.element == "f16")
        to = f16ToFloat(reinterpret_cast<const uint16_t *>(base)[i]);
      else
        to = reinterpret_cast<const float *>(base)[i];
    }
}

} // namespace vetro
