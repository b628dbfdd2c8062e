// Writes a token's keys and values into the cache, and reads them back for dumps and the
// interpreter. Addresses: runtime/abi/KvPage.h.
#include "runtime/abi/KvPage.h"
#include "runtime/kernels/cpu/KvElement.h"

namespace vetro {
namespace {

/// Stores n floats as elements `stride` apart.
template <class Kv>
VT_INLINE void storeRow(typename Kv::Type *to, uint32_t stride, const float *x, uint32_t n) {
  typename Kv::Type part[16];
  for (uint32_t d = 0; d < n; d += 16) {
    uint32_t lanes = n - d < 16 ? n - d : 16;
    Kv::store16(part, lanes == 16 ? load<f32x16>(x + d) : loadFirst<KvF32>(x + d, lanes));
    for (uint32_t i = 0; i < lanes; ++i)
      to[uint64_t(d + i) * stride] = part[i];
  }
}

/// The inverse.
template <class Kv>
VT_INLINE void loadRow(const typename Kv::Type *from, uint32_t stride, float *out, uint32_t n) {
  typename Kv::Type part[16] = {};
  for (uint32_t d = 0; d < n; d += 16) {
    uint32_t lanes = n - d < 16 ? n - d : 16;
    for (uint32_t i = 0; i < lanes; ++i)
      part[i] = from[uint64_t(d + i) * stride];
    storeLanes(out + d, Kv::load16(part), lanes);
  }
}

template <class Kv>
VT_INLINE void storeK(void *state, const VtBatch *b, uint32_t token, uint32_t nHeadKV,
                      uint32_t headDim, const float *x) {
  const int32_t *pages = tokenPages(*b, token);
  uint32_t position = (uint32_t)b->positions[token];
  for (uint32_t h = 0; h < nHeadKV; ++h)
    storeRow<Kv>((typename Kv::Type *)state + kOffset(pages, position, h, nHeadKV, headDim),
                 groupPositions, x + h * headDim, headDim);
}

template <class Kv>
VT_INLINE void storeV(void *state, const VtBatch *b, uint32_t token, uint32_t nHeadKV,
                      uint32_t headDim, const float *x) {
  const int32_t *pages = tokenPages(*b, token);
  uint32_t position = (uint32_t)b->positions[token];
  for (uint32_t h = 0; h < nHeadKV; ++h)
    storeRow<Kv>((typename Kv::Type *)state + vOffset(pages, position, h, nHeadKV, headDim), 1,
                 x + h * headDim, headDim);
}

template <class Kv>
VT_INLINE void loadK(const void *state, const int32_t *pages, uint32_t position, uint32_t nHeadKV,
                     uint32_t headDim, float *out) {
  for (uint32_t h = 0; h < nHeadKV; ++h)
    loadRow<Kv>((const typename Kv::Type *)state + kOffset(pages, position, h, nHeadKV, headDim),
                groupPositions, out + h * headDim, headDim);
}

template <class Kv>
VT_INLINE void loadV(const void *state, const int32_t *pages, uint32_t position, uint32_t nHeadKV,
                     uint32_t headDim, float *out) {
  for (uint32_t h = 0; h < nHeadKV; ++h)
    loadRow<Kv>((const typename Kv::Type *)state + vOffset(pages, position, h, nHeadKV, headDim), 1,
                out + h * headDim, headDim);
}

} // namespace
} // namespace vetro

using namespace vetro;

// Store: x [nHeadKV][headDim] of that token. Load: out [nHeadKV][headDim] of a position of the
// sequence whose page numbers are `pages`.

#define VT_DEFINE_STORE(NAME, FUNCTION)                                                            \
  VT_EXPORT void VT_NAME(NAME)(void *state, const VtBatch *b, uint32_t token, uint32_t nHeadKV,    \
                               uint32_t headDim, const float *x) {                                 \
    FUNCTION(state, b, token, nHeadKV, headDim, x);                                                \
  }
#define VT_DEFINE_LOAD(NAME, FUNCTION)                                                             \
  VT_EXPORT void VT_NAME(NAME)(const void *state, const int32_t *pages, uint32_t position,         \
                               uint32_t nHeadKV, uint32_t headDim, float *out) {                   \
    FUNCTION(state, pages, position, nHeadKV, headDim, out);                                       \
  }
VT_DEFINE_STORE(vt_kv_store_k_f16, storeK<KvF16>)
VT_DEFINE_STORE(vt_kv_store_k_f32, storeK<KvF32>)
VT_DEFINE_STORE(vt_kv_store_v_f16, storeV<KvF16>)
VT_DEFINE_STORE(vt_kv_store_v_f32, storeV<KvF32>)
VT_DEFINE_LOAD(vt_kv_load_k_f16, loadK<KvF16>)
VT_DEFINE_LOAD(vt_kv_load_k_f32, loadK<KvF32>)
VT_DEFINE_LOAD(vt_kv_load_v_f16, loadV<KvF16>)
VT_DEFINE_LOAD(vt_kv_load_v_f32, loadV<KvF32>)
