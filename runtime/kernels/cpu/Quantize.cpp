// Turns activations into int8 records (Kernel.h, "a8"), once for all matmuls that read them.
#include "runtime/abi/Kernel.h"
#include "runtime/kernels/cpu/simd/Simd.h"

using namespace vetro;

/// The largest magnitude of 32 values. Compared as integers, where infinity is above all numbers
/// and NaN above infinity.
VT_INLINE float maxMagnitude(f32x16 a, f32x16 b) {
  i32x16 x = (i32x16)a & splat(0x7fffffff), y = (i32x16)b & splat(0x7fffffff);
  return __builtin_bit_cast(float, __builtin_reduce_max(x > y ? x : y));
}

/// Sixteen codes, which it stores, and their sum. The lower limit is met by NaN and infinity alone.
VT_INLINE i32x16 quantize16(f32x16 x, float inverse, int8_t *q, int16_t *sum) {
  i32x16 code = roundToInt(x * splat(inverse));
  code = code < splat(-127) ? splat(-127) : code;
  code = code > splat(127) ? splat(127) : code;
  store(q, __builtin_convertvector(code, i8x16));
  *sum = (int16_t)__builtin_reduce_add(code);
  return code;
}

/// Makes block `block` of a record of the 32 values in a and b, and leaves what it does not hold.
VT_INLINE void quantizeBlock(f32x16 &a, f32x16 &b, uint64_t k, uint32_t block, char *record) {
  float most = maxMagnitude(a, b), inverse = 127.0f / most;
  bool zero = inverse == __builtin_inff();
  float d = zero ? 0 : most / 127.0f;
  inverse = zero ? 0 : inverse;
  int8_t *codes = (int8_t *)record + 32 * block;
  int16_t *sums = (int16_t *)(record + a8SumsOffset(k)) + 2 * block;
  store(record + a8ScalesOffset(k) + 4 * block, d);
  // Product and difference are rounded one by one: so all levels have the same bits.
  a = a - toFloat(quantize16(a, inverse, codes, sums)) * splat(d);
  b = b - toFloat(quantize16(b, inverse, codes + 16, sums + 1)) * splat(d);
}

/// Fills blocks [blockBegin, blockEnd) of a token's row of k values (k % 32 == 0).
///   x        the values from element blockBegin * 32 on
///   records  1: a8; 2: a8x2
/// Per block: d = max|x| / 127, q = round-half-even(x * (127 / max|x|)). A block of zeros, or one
/// so small (below 4e-37) that 127 / max|x| is infinite, has d = 0 and q = 0. Infinity or NaN in a
/// block makes its d infinite or NaN, so that the product shows it.
VT_EXPORT void VT_NAME(vt_quantize_a8)(const float *x, uint64_t k, uint32_t blockBegin,
                                       uint32_t blockEnd, uint32_t records, void *row) {
  for (uint32_t block = blockBegin; block < blockEnd; ++block, x += 32) {
    f32x16 a = load<f32x16>(x), b = load<f32x16>(x + 16);
    for (uint32_t i = 0; i < records; ++i)
      quantizeBlock(a, b, k, block, (char *)row + i * a8Stride(k));
  }
}
