// Turns activations into the int8 record "a8" (Kernel.h), once for all matmuls that read them.
#include "runtime/abi/Kernel.h"
#include "runtime/kernels/cpu/simd/Simd.h"

using namespace vetro;

/// The largest magnitude of 32 values. Compared as integers, where infinity is above all numbers
/// and NaN above infinity.
VT_INLINE float maxMagnitude(f32x16 a, f32x16 b) {
  i32x16 x = (i32x16)a & splat(0x7fffffff), y = (i32x16)b & splat(0x7fffffff);
  return __builtin_bit_cast(float, __builtin_reduce_max(x > y ? x : y));
}

/// 16 codes and their sum. The lower limit is met by NaN and infinity alone.
VT_INLINE int16_t quantize16(f32x16 x, float inverse, int8_t *q) {
  i32x16 code = roundToInt(x * splat(inverse));
  code = code < splat(-127) ? splat(-127) : code;
  code = code > splat(127) ? splat(127) : code;
  store(q, __builtin_convertvector(code, i8x16));
  return (int16_t)__builtin_reduce_add(code);
}

/// Fills blocks [blockBegin, blockEnd) of a token's record of k values (k % 32 == 0).
///   x  the values from element blockBegin * 32 on
/// Per block: d = max|x| / 127, q = round-half-even(x * (127 / max|x|)). A block of zeros, or one
/// so small (below 4e-37) that 127 / max|x| is infinite, has d = 0 and q = 0. Infinity or NaN in a
/// block makes its d infinite or NaN, so that the product shows it.
VT_EXPORT void VT_NAME(vt_quantize_a8)(const float *x, uint64_t k, uint32_t blockBegin,
                                       uint32_t blockEnd, void *record) {
  int8_t *codes = (int8_t *)record;
  float *scales = (float *)(codes + a8ScalesOffset(k));
  int16_t *sums = (int16_t *)(codes + a8SumsOffset(k));
  for (uint32_t block = blockBegin; block < blockEnd; ++block, x += 32) {
    f32x16 a = load<f32x16>(x), b = load<f32x16>(x + 16);
    float most = maxMagnitude(a, b), inverse = 127.0f / most;
    bool zero = inverse == __builtin_inff();
    scales[block] = zero ? 0 : most / 127.0f;
    inverse = zero ? 0 : inverse;
    sums[2 * block] = quantize16(a, inverse, codes + 32 * block);
    sums[2 * block + 1] = quantize16(b, inverse, codes + 32 * block + 16);
  }
}
