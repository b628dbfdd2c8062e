// exp, tanh, sin and cos for kernels: no libm call, the same bits at every level that has FMA.
#pragma once
#include "runtime/kernels/cpu/simd/Simd.h"

namespace vetro {

/// Sum and maximum of 16 lanes, in the order of a halving tree: lane i with i+8, then i+4, ...
VT_INLINE float sumLanes(f32x16 v) {
  v += __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3);
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1);
  return v[0] + v[1];
}
VT_INLINE float maxLanes(f32x16 v) {
  v = max(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  v = max(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3));
  v = max(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1));
  return v[0] > v[1] ? v[0] : v[1];
}

/// 2^n for n in [-126, 127].
VT_INLINE f32x16 powerOfTwo(i32x16 n) { return (f32x16)((n + 127) << 23); }

/// e^x within 2 ulp, denormal results included; NaN stays NaN, -inf gives 0. Polynomial: Cephes'
/// expf.
VT_INLINE f32x16 exp(f32x16 x) {
  const f32x16 low = splat(-104.0f), high = splat(89.0f); // beyond them the result is 0 or inf
  x = x < low ? low : x;                                  // (comparisons that leave NaN alone)
  x = x > high ? high : x;
  // x = n ln 2 + r. Adding 1.5 * 2^23 rounds to an integer, which the low bits then hold.
  const f32x16 magic = splat(0x1.8p23f);
  f32x16 t = fma(x, splat(1.44269504f), magic), n = t - magic;
  f32x16 r = fma(n, splat(-0.693359375f), x);
  r = fma(n, splat(2.12194440e-4f), r);
  f32x16 p = splat(1.9875691500e-4f);
  p = fma(p, r, splat(1.3981999507e-3f));
  p = fma(p, r, splat(8.3334519073e-3f));
  p = fma(p, r, splat(4.1665795894e-2f));
  p = fma(p, r, splat(1.6666665459e-1f));
  p = fma(p, r, splat(5.0000001201e-1f));
  p = fma(p, r * r, r) + splat(1.0f);
  // In two steps: 2^n alone may be no normal number.
  i32x16 whole = (i32x16)t - (i32x16)magic, first = whole >> 1;
  return p * powerOfTwo(first) * powerOfTwo(whole - first);
}

/// tanh x within 3 ulp, odd; NaN stays NaN. Near 0 Cephes' polynomial, else 1 - 2 / (e^2x + 1).
VT_INLINE f32x16 tanh(f32x16 x) {
  const i32x16 signBit = splat((int32_t)0x80000000);
  i32x16 sign = (i32x16)x & signBit;
  f32x16 a = (f32x16)((i32x16)x & ~signBit), z = x * x;
  f32x16 p = splat(-5.70498872745e-3f);
  p = fma(p, z, splat(2.06390887954e-2f));
  p = fma(p, z, splat(-5.37397155531e-2f));
  p = fma(p, z, splat(1.33314422036e-1f));
  p = fma(p, z, splat(-3.33332819422e-1f));
  p = fma(p * z, a, a);
  f32x16 big = splat(1.0f) - splat(2.0f) / (exp(a + a) + splat(1.0f));
  return (f32x16)((i32x16)(a < splat(0.625f) ? p : big) | sign);
}

/// sin x and cos x in F64 with an error below 1e-13, for |x| <= 2^20. Without FMA on purpose: the
/// products of the reduction are exact, so all levels agree, the scalar one too.
VT_INLINE void sinCos(double x, double &sine, double &cosine) {
  // x = n pi/2 + r, |r| <= pi/4; pi/2 in two parts, the first of 33 bits. Adding 1.5 * 2^52 rounds
  // to an integer, which the low bits then hold.
  const double magic = 0x1.8p52;
  double t = x * 0.63661977236758134308 + magic, n = t - magic;
  double r = (x - n * 1.57079632673412561417e+00) - n * 6.07710050650619224932e-11;
  double z = r * r;
  // Taylor series; the first dropped terms are 2e-14 and 1e-15 at pi/4.
  double s = 1 / 6227020800.0;
  const double sines[] = {-1 / 39916800.0, 1 / 362880.0, -1 / 5040.0, 1 / 120.0, -1 / 6.0};
  for (double f : sines)
    s = s * z + f;
  s = r + r * z * s;
  double c = -1 / 87178291200.0;
  const double cosines[] = {1 / 479001600.0, -1 / 3628800.0, 1 / 40320.0, -1 / 720.0, 1 / 24.0};
  for (double f : cosines)
    c = c * z + f;
  c = (1 - z * 0.5) + z * z * c;
  uint32_t quadrant = (uint32_t)__builtin_bit_cast(uint64_t, t) & 3;
  double a = quadrant & 1 ? c : s, b = quadrant & 1 ? s : c;
  sine = quadrant & 2 ? -a : a;
  cosine = (quadrant + 1) & 2 ? -b : b;
}

} // namespace vetro
