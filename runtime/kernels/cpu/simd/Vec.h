// Vectors of 16 lanes, the same at every level: the compiler splits them into what the CPU has.
// Lanes are rows of a weight tile in matmul, and elements in everything else.
#pragma once
#include "runtime/kernels/cpu/Name.h"
#include <stdint.h>

namespace vetro {

typedef float f32x16 __attribute__((vector_size(64)));
typedef int32_t i32x16 __attribute__((vector_size(64)));
typedef uint32_t u32x16 __attribute__((vector_size(64)));
typedef int16_t i16x32 __attribute__((vector_size(64)));
typedef uint16_t u16x32 __attribute__((vector_size(64)));
typedef uint8_t u8x64 __attribute__((vector_size(64)));
typedef int16_t i16x16 __attribute__((vector_size(32)));
typedef uint16_t u16x16 __attribute__((vector_size(32)));
typedef int8_t i8x16 __attribute__((vector_size(16)));

/// Reads or writes a T at any address.
template <class T> VT_INLINE T load(const void *p) {
  T v;
  __builtin_memcpy(&v, p, sizeof(T));
  return v;
}
template <class T> VT_INLINE void store(void *p, T v) { __builtin_memcpy(p, &v, sizeof(T)); }

/// All lanes equal to x.
VT_INLINE f32x16 splat(float x) { return x - f32x16{}; }
VT_INLINE i32x16 splat(int32_t x) { return x - i32x16{}; }
VT_INLINE u32x16 splat(uint32_t x) { return x - u32x16{}; }

VT_INLINE float toFloat(int32_t v) { return (float)v; }
VT_INLINE f32x16 toFloat(i32x16 v) { return __builtin_convertvector(v, f32x16); }
VT_INLINE i32x16 widen(i16x16 v) { return __builtin_convertvector(v, i32x16); }
VT_INLINE f32x16 max(f32x16 a, f32x16 b) { return a > b ? a : b; }
VT_INLINE f32x16 min(f32x16 a, f32x16 b) { return a < b ? a : b; }

/// One part of a vector, N lanes from lane I on; and the vector of two halves.
template <int I, class Half, class V> VT_INLINE Half part(V v) {
  Half parts[sizeof(V) / sizeof(Half)];
  __builtin_memcpy(parts, &v, sizeof(V));
  return parts[I];
}

/// Bits 4i..4i+3 of each lane, as bit 4 of the lane's bytes 0..3: a multiplication copies the four
/// bits 0, 7, 14 and 21 places up, where each has its byte's bit 0 in one copy.
VT_INLINE u8x64 spreadBits(u32x16 bits, int i) {
  u32x16 four = bits >> (uint32_t)(4 * i) & 15u;
  return (u8x64)((four * 0x00204081u & 0x01010101u) << 4u);
}

/// Stores the first n <= 16 lanes.
VT_INLINE void storeLanes(float *p, f32x16 v, uint32_t n) {
  if (n >= 16)
    return store(p, v);
  for (uint32_t i = 0; i < n; ++i)
    p[i] = v[i];
}

} // namespace vetro
