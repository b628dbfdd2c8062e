// Math.h applied to arrays of whole vectors, compiled once per level.
#include "runtime/kernels/cpu/Math.h"

using namespace vetro;

VT_EXPORT void VT_NAME(vt_probe_exp)(const float *x, float *y, uint32_t n) {
  for (uint32_t i = 0; i < n; i += 16)
    store(y + i, exp(load<f32x16>(x + i)));
}
VT_EXPORT void VT_NAME(vt_probe_tanh)(const float *x, float *y, uint32_t n) {
  for (uint32_t i = 0; i < n; i += 16)
    store(y + i, tanh(load<f32x16>(x + i)));
}
