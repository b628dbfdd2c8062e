// Attention of one layer: softmax(scale * q k^T) v over the positions that a token may see.
//
// One order for all phases. A row (a token's query head) sees positions [lo, hi) of its sequence.
// They are taken page by page (256 positions). Within a page: the scores, each a sum over d in
// order; their maximum; p = exp(score - maximum); the sum of p, lane by lane over groups of 16 and
// then a tree; the sum of p * v in the positions' order. A page's result is merged into what the
// pages before gave. Nothing else enters, so a row's bits depend neither on the rows computed
// beside it (they share loads, not sums) nor on the split of the units, nor on what memory holds
// elsewhere.
#include "runtime/kernels/cpu/AttentionTile.h"
#include "runtime/kernels/cpu/Math.h"

/// Not inlined: one copy serves several callers, which keeps the code to compile small.
#define VT_SHARED static __attribute__((noinline))

namespace vetro {
namespace {

constexpr uint32_t maxRows = 12;    // rows that share loads
constexpr uint32_t sliceDims = 256; // dimensions of sums in scratch; wider heads go row by row
constexpr uint32_t tokensPerFold = 16;

/// Rows of one sequence and one KV head whose first and last page are the same.
struct Rows {
  uint32_t n;
  uint32_t lo[maxRows], hi[maxRows]; // positions
  const float *q[maxRows];
  float *out[maxRows]; // running sums, divided at the end
};

/// What a page gives a row: the maximum of its scores and the sum of exp(score - maximum), which
/// replaces the scores.  [lo, hi) positions of the page.
VT_SHARED void softmaxRow(float *scores, uint32_t lo, uint32_t hi, float softcap, float &maximum,
                          float &sum) {
  const i32x16 index = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const f32x16 masked = splat(-__builtin_inff());
  uint32_t begin = lo / 16 * 16, end = (hi + 15) / 16 * 16;
  f32x16 most = masked;
  for (uint32_t i = begin; i < end; i += 16) {
    f32x16 s = load<f32x16>(scores + i);
    if (softcap != 0)
      s = splat(softcap) * tanh(s / splat(softcap));
    i32x16 at = index + splat((int32_t)i);
    s = ((at >= splat((int32_t)lo)) & (at < splat((int32_t)hi))) ? s : masked;
    most = max(most, s);
    store(scores + i, s);
  }
  maximum = maxLanes(most);
  f32x16 total = {};
  for (uint32_t i = begin; i < end; i += 16) {
    f32x16 p = exp(load<f32x16>(scores + i) - splat(maximum));
    total += p;
    store(scores + i, p);
  }
  sum = sumLanes(total);
}

/// Queries as the score tiles read them: per tile [headDim][R]. A single row is its own packing.
VT_INLINE const float *packQueries(const Rows &rows, uint32_t headDim, float *packed) {
  if (rows.n == 1)
    return rows.q[0];
  forRowTiles(0, rows.n, [&]<int R>(uint32_t row) __attribute__((always_inline)) {
    float *to = packed + row * headDim;
    for (uint32_t d = 0; d < headDim; ++d)
      for (int r = 0; r < R; ++r)
        to[d * R + r] = rows.q[row + r][d];
  });
  return packed;
}

/// The part of [lo, hi) of each row that lies in one page.
struct PageRange {
  uint32_t lo[maxRows], hi[maxRows];
  uint32_t anyLo, anyHi; // what at least one row sees
  uint32_t allLo, allHi; // what all rows see; empty where there is no such position
};

VT_INLINE PageRange pageRange(const Rows &rows, uint32_t start) {
  PageRange range;
  range.anyLo = range.allHi = pagePositions;
  range.anyHi = range.allLo = 0;
  for (uint32_t r = 0; r < rows.n; ++r) {
    uint32_t lo = rows.lo[r] > start ? rows.lo[r] - start : 0;
    uint32_t hi = rows.hi[r] < start + pagePositions ? rows.hi[r] - start : pagePositions;
    range.lo[r] = lo;
    range.hi[r] = hi;
    range.anyLo = lo < range.anyLo ? lo : range.anyLo;
    range.allLo = lo > range.allLo ? lo : range.allLo;
    range.anyHi = hi > range.anyHi ? hi : range.anyHi;
    range.allHi = hi < range.allHi ? hi : range.allHi;
  }
  if (range.allLo > range.allHi) // then each row goes alone, up to allLo
    range.allLo = range.allHi = range.anyHi;
  return range;
}

/// Maximum and sum of each row so far, and the factors that merge the page into them.
struct Merge {
  float maximum[16], sum[16], keep[16], add[16];
};

/// Merges a page with these maxima and sums: what was, times e^(old - new maximum), plus what is
/// added, times e^(page's - new maximum). Lanes are rows.
VT_INLINE void mergePage(Merge &m, const float *maximum, const float *sum) {
  f32x16 old = load<f32x16>(m.maximum), page = load<f32x16>(maximum), most = max(old, page);
  f32x16 keep = exp(old - most), add = exp(page - most);
  store(m.maximum, most);
  store(m.sum, fma(load<f32x16>(sum), add, load<f32x16>(m.sum) * keep));
  store(m.keep, keep);
  store(m.add, add);
}

/// ctx = ctx * keep + sums * add for n dimensions.
VT_INLINE void mergeRow(float *ctx, const float *sums, uint32_t n, float keep, float add) {
  for (uint32_t d = 0; d < n; d += 16) {
    uint32_t lanes = n - d < 16 ? n - d : 16;
    f32x16 old = lanes == 16 ? load<f32x16>(ctx + d) : loadFirst<KvF32>(ctx + d, lanes);
    storeLanes(ctx + d, fma(load<f32x16>(sums + d), splat(add), old * splat(keep)), lanes);
  }
}

/// One KV head of one layer.
template <class Kv> struct Head {
  const typename Kv::Type *k, *v; // the head in page 0
  uint64_t pageElements;
  uint32_t headDim;
  float scale, softcap;
};

/// Adds p * v of one row's positions [begin, end) to its sums, for dimensions [dim, dimEnd).
template <class Kv>
VT_SHARED void addRow(const typename Kv::Type *v, uint32_t headDim, const float *p, uint32_t begin,
                      uint32_t end, uint32_t dim, uint32_t dimEnd, float *sums) {
  constexpr uint32_t step = 16 * tileWidth(1);
  if (begin >= end)
    return;
  for (; dim + step <= dimEnd; dim += step, sums += step)
    addPositions<Kv, 1, tileWidth(1)>(v + dim, headDim, 16, p, begin, end, sums, sliceDims);
  for (; dim < dimEnd; dim += 16, sums += 16)
    addPositions<Kv, 1, 1>(v + dim, headDim, dimEnd - dim < 16 ? dimEnd - dim : 16, p, begin, end,
                           sums, sliceDims);
}

/// Sums of p * v over the page for all rows, dimensions [dim, dimEnd) (at most sliceDims): first
/// what only some rows see, row by row, then what all see, in tiles, then again what only some see.
template <class Kv>
VT_INLINE void addPage(const typename Kv::Type *v, uint32_t headDim, const Rows &rows,
                       const PageRange &range, const float *p, uint32_t dim, uint32_t dimEnd,
                       float *sums) {
  for (uint32_t r = 0; r < rows.n; ++r)
    for (uint32_t d = dim; d < dimEnd; d += 16)
      store(sums + r * sliceDims + (d - dim), f32x16{});
  for (uint32_t r = 0; r < rows.n; ++r)
    addRow<Kv>(v, headDim, p + r * pagePositions, range.lo[r],
               range.hi[r] < range.allLo ? range.hi[r] : range.allLo, dim, dimEnd,
               sums + r * sliceDims);
  forRowTiles(0, rows.n, [&]<int R>(uint32_t row) __attribute__((always_inline)) {
    constexpr uint32_t step = 16 * tileWidth(R);
    const float *tileP = p + row * pagePositions;
    float *to = sums + row * sliceDims;
    uint32_t d = dim;
    for (; R > 1 && d + step <= dimEnd; d += step, to += step)
      addPositions<Kv, R, tileWidth(R)>(v + d, headDim, 16, tileP, range.allLo, range.allHi, to,
                                        sliceDims);
    for (int r = 0; d < dimEnd && r < R; ++r)
      addRow<Kv>(v, headDim, tileP + r * pagePositions, range.allLo, range.allHi, d, dimEnd,
                 to + r * sliceDims);
  });
  for (uint32_t r = 0; r < rows.n; ++r)
    addRow<Kv>(v, headDim, p + r * pagePositions, range.allHi, range.hi[r], dim, dimEnd,
               sums + r * sliceDims);
}

/// One page for all rows: scores, softmax, merge, sums.
template <class Kv>
VT_INLINE void attendPage(const Head<Kv> &head, const Rows &rows, const PageRange &range,
                          const float *packed, int32_t page, Merge &merge) {
  alignas(64) float scores[maxRows * pagePositions], sums[maxRows * sliceDims];
  alignas(64) float maxima[16] = {}, totals[16] = {};
  const auto *k = head.k + uint64_t(page) * head.pageElements;
  const auto *v = head.v + uint64_t(page) * head.pageElements;
  forRowTiles(0, rows.n, [&]<int R>(uint32_t row) __attribute__((always_inline)) {
    scoreRows<Kv, R>(k, head.headDim, packed + row * head.headDim, head.scale, range.anyLo,
                     range.anyHi, scores + row * pagePositions);
  });
  for (uint32_t r = 0; r < rows.n; ++r)
    softmaxRow(scores + r * pagePositions, range.lo[r], range.hi[r], head.softcap, maxima[r],
               totals[r]);
  mergePage(merge, maxima, totals);
  for (uint32_t dim = 0; dim < head.headDim; dim += sliceDims) {
    uint32_t end = head.headDim - dim < sliceDims ? head.headDim : dim + sliceDims;
    addPage<Kv>(v, head.headDim, rows, range, scores, dim, end, sums);
    for (uint32_t r = 0; r < rows.n; ++r)
      mergeRow(rows.out[r] + dim, sums + r * sliceDims, end - dim, merge.keep[r], merge.add[r]);
  }
}

/// All pages of these rows, in order, then the division by the sum.
template <class Kv>
VT_INLINE void attendRows(const Head<Kv> &head, const Rows &rows, const int32_t *pages) {
  alignas(64) float packed[maxRows * sliceDims];
  alignas(64) Merge merge;
  store(merge.maximum, splat(-__builtin_inff()));
  store(merge.sum, f32x16{});
  for (uint32_t r = 0; r < rows.n; ++r)
    for (uint32_t d = 0; d < head.headDim; ++d)
      rows.out[r][d] = 0;
  const float *q = packQueries(rows, head.headDim, packed);
  for (uint32_t page = rows.lo[0] / pagePositions; page * pagePositions < rows.hi[0]; ++page)
    attendPage(head, rows, pageRange(rows, page * pagePositions), q, pages[page], merge);
  for (uint32_t r = 0; r < rows.n; ++r)
    for (uint32_t d = 0; d < head.headDim; ++d)
      rows.out[r][d] /= merge.sum[r];
}

/// The first position that a token at `position` sees.
VT_INLINE uint32_t firstVisible(uint32_t position, uint32_t window) {
  return window == 0 || position < window ? 0 : position - window + 1;
}

/// Work is cut into contiguous ranges of units, and in a prefill late tokens cost more than early
/// ones: take blocks of 16 tokens from both ends in turn, so that every range is worth the same.
VT_INLINE uint32_t foldedToken(uint32_t index, uint32_t nTokens) {
  uint32_t nFolds = nTokens / tokensPerFold, fold = index / tokensPerFold;
  if (fold >= nFolds)
    return index;
  uint32_t from = fold % 2 ? nFolds - 1 - fold / 2 : fold / 2;
  return from * tokensPerFold + index % tokensPerFold;
}

/// What the whole call shares.
struct Call {
  const float *q;
  const VtBatch *b;
  const VtAttention *p;
  float *ctx;
};

/// How many of the tokens index, index + 1, ... < end follow each other in one sequence and have
/// the same first and last page as the first; at most `most`.
VT_INLINE uint32_t runLength(const Call &c, uint32_t index, uint32_t end, uint32_t most) {
  const uint32_t window = c.p->window, first = foldedToken(index, c.b->nTokens);
  const uint32_t position = (uint32_t)c.b->positions[first];
  uint32_t n = 1;
  for (; n < most && index + n < end; ++n) {
    uint32_t token = foldedToken(index + n, c.b->nTokens);
    uint32_t next = (uint32_t)c.b->positions[token];
    if (c.b->sequences[token] != c.b->sequences[first] ||
        next / pagePositions != position / pagePositions ||
        firstVisible(next, window) / pagePositions !=
            firstVisible(position, window) / pagePositions)
      break;
  }
  return n;
}

/// Rows of `nTokens` tokens from `index` on, times query heads [headBegin, headEnd).
VT_INLINE void fillRows(Rows &rows, const Call &c, uint32_t index, uint32_t nTokens,
                        uint32_t headBegin, uint32_t headEnd) {
  const uint64_t width = uint64_t(c.p->nHead) * c.p->headDim;
  rows.n = 0;
  for (uint32_t i = 0; i < nTokens; ++i) {
    uint32_t token = foldedToken(index + i, c.b->nTokens);
    uint32_t position = (uint32_t)c.b->positions[token];
    for (uint32_t h = headBegin; h < headEnd; ++h) {
      rows.lo[rows.n] = firstVisible(position, c.p->window);
      rows.hi[rows.n] = position + 1;
      rows.q[rows.n] = c.q + token * width + h * c.p->headDim;
      rows.out[rows.n++] = c.ctx + token * width + h * c.p->headDim;
    }
  }
}

/// Tokens [begin, end), in folded order, of one KV head.
template <class Kv>
VT_INLINE void attendHead(const Call &c, const Head<Kv> &head, uint32_t kvHead, uint32_t begin,
                          uint32_t end) {
  const uint32_t limit = head.headDim <= sliceDims ? maxRows : 1;
  const uint32_t group = c.p->nHead / c.p->nHeadKV, headEnd = (kvHead + 1) * group;
  const uint32_t tokensAtOnce = group < limit ? limit / group : 1;
  Rows rows;
  for (uint32_t i = begin; i < end;) {
    uint32_t n = runLength(c, i, end, tokensAtOnce);
    for (uint32_t h = kvHead * group; h < headEnd; h += limit) {
      fillRows(rows, c, i, n, h, h + limit < headEnd ? h + limit : headEnd);
      attendRows(head, rows, tokenPages(*c.b, foldedToken(i, c.b->nTokens)));
    }
    i += n;
  }
}

template <class Kv>
VT_INLINE void attention(const Call &c, const void *kState, const void *vState, uint32_t unitBegin,
                         uint32_t unitEnd) {
  using Type = typename Kv::Type;
  const uint32_t nHeadKV = c.p->nHeadKV, headDim = c.p->headDim;
  for (uint32_t h = 0; h < nHeadKV; ++h) {
    const uint64_t offset = uint64_t(h) * pagePositions * headDim; // the same in K and V pages
    Head<Kv> head = {(const Type *)kState + offset,
                     (const Type *)vState + offset,
                     kvPageElements(nHeadKV, headDim),
                     headDim,
                     c.p->scale,
                     c.p->softcap};
    // Tokens t with unitBegin <= t * nHeadKV + h < unitEnd.
    uint32_t begin = unitBegin > h ? (unitBegin - h + nHeadKV - 1) / nHeadKV : 0;
    uint32_t end = unitEnd > h ? (unitEnd - h + nHeadKV - 1) / nHeadKV : 0;
    attendHead(c, head, h, begin, end);
  }
}

} // namespace
} // namespace vetro

using namespace vetro;

// Units [unitBegin, unitEnd) of nTokens * nHeadKV: one token's query heads of one KV head.
//   q, ctx           [T][nHead * headDim]; only the units' part of ctx is written
//   kState, vState   the layer's pages (KvPage.h), which hold the batch's own positions already
VT_EXPORT void VT_NAME(vt_attention_f16)(const float *q, const void *kState, const void *vState,
                                         const VtBatch *b, const VtAttention *p, uint32_t unitBegin,
                                         uint32_t unitEnd, float *ctx) {
  attention<KvF16>({q, b, p, ctx}, kState, vState, unitBegin, unitEnd);
}
VT_EXPORT void VT_NAME(vt_attention_f32)(const float *q, const void *kState, const void *vState,
                                         const VtBatch *b, const VtAttention *p, uint32_t unitBegin,
                                         uint32_t unitEnd, float *ctx) {
  attention<KvF32>({q, b, p, ctx}, kState, vState, unitBegin, unitEnd);
}
