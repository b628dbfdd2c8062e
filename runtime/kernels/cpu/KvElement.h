// The element types of a KV cache: how 16 of them become floats and back.
#pragma once
#include "runtime/kernels/cpu/simd/Simd.h"

namespace vetro {

struct KvF16 {
  using Type = uint16_t;
  VT_INLINE f32x16 load16(const Type *p) { return fromF16(load<u16x16>(p)); }
  VT_INLINE void store16(Type *p, f32x16 v) { store(p, toF16(v)); }
};

struct KvF32 {
  using Type = float;
  VT_INLINE f32x16 load16(const Type *p) { return load<f32x16>(p); }
  VT_INLINE void store16(Type *p, f32x16 v) { store(p, v); }
};

/// The first n < 16 elements at p, zero in the other lanes.
template <class Kv> VT_INLINE f32x16 loadFirst(const typename Kv::Type *p, uint32_t n) {
  typename Kv::Type part[16] = {};
  for (uint32_t i = 0; i < n; ++i)
    part[i] = p[i];
  return Kv::load16(part);
}

} // namespace vetro
