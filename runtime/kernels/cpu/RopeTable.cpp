// Cosines and sines of a micro-batch's positions, computed once and used by all layers.
#include "runtime/kernels/cpu/Math.h"

using namespace vetro;

/// Rows [begin, end) of table [T][half][2]: cos and sin of position * (invFreq[i] / factors[i]),
/// times mscale.
///   positions  [T], 0 .. 2^20
///   invFreq    [half] radians per position, at most 1; factors [half] or null (all 1)
/// The angle is rounded to F32 as Hugging Face computes it; its cosine and sine are within 1 ulp.
VT_EXPORT void VT_NAME(vt_rope_table)(const int32_t *positions, uint32_t begin, uint32_t end,
                                      const float *invFreq, const float *factors, uint32_t half,
                                      float mscale, float *table) {
  for (uint32_t t = begin; t < end; ++t)
    for (uint32_t i = 0; i < half; ++i) {
      float frequency = factors ? invFreq[i] / factors[i] : invFreq[i];
      double sine, cosine;
      sinCos((float)positions[t] * frequency, sine, cosine);
      float *out = table + 2 * (uint64_t(t) * half + i);
      out[0] = (float)cosine * mscale;
      out[1] = (float)sine * mscale;
    }
}
