// The table of natively compiled kernels.
#include "runtime/kernels/cpu/Native.h"

extern "C" {
#define VT_KERNEL(NAME, PARAMS)                                                                    \
  void NAME##__scalar PARAMS;                                                                      \
  void NAME##__avx2 PARAMS;                                                                        \
  void NAME##__avx512 PARAMS;                                                                      \
  void NAME##__vnni PARAMS;
#define VT_MATMUL(E, NAME)                                                                         \
  vetro::VtMatMul vt_matmul_##NAME##__scalar, vt_matmul_##NAME##__avx2,                            \
      vt_matmul_##NAME##__avx512, vt_matmul_##NAME##__vnni;                                        \
  vetro::VtGather vt_gather_##NAME##__scalar, vt_gather_##NAME##__avx2,                            \
      vt_gather_##NAME##__avx512, vt_gather_##NAME##__vnni;
#include "runtime/kernels/cpu/Kernels.def"
#undef VT_KERNEL
#undef VT_MATMUL
}

namespace vetro {

#define VT_MATMUL_OF(LEVEL, NAME) vt_matmul_##NAME##__##LEVEL, vt_gather_##NAME##__##LEVEL,
static const NativeKernels table[] = {
#define VT_KERNEL(NAME, PARAMS) NAME##__scalar,
#define VT_MATMUL(E, NAME) VT_MATMUL_OF(scalar, NAME)
    {
        "scalar",
#include "runtime/kernels/cpu/Kernels.def"
    },
#undef VT_KERNEL
#undef VT_MATMUL
#define VT_KERNEL(NAME, PARAMS) NAME##__avx2,
#define VT_MATMUL(E, NAME) VT_MATMUL_OF(avx2, NAME)
    {
        "avx2",
#include "runtime/kernels/cpu/Kernels.def"
    },
#undef VT_KERNEL
#undef VT_MATMUL
#define VT_KERNEL(NAME, PARAMS) NAME##__avx512,
#define VT_MATMUL(E, NAME) VT_MATMUL_OF(avx512, NAME)
    {
        "avx512",
#include "runtime/kernels/cpu/Kernels.def"
    },
#undef VT_KERNEL
#undef VT_MATMUL
#define VT_KERNEL(NAME, PARAMS) NAME##__vnni,
#define VT_MATMUL(E, NAME) VT_MATMUL_OF(vnni, NAME)
    {
        "vnni",
#include "runtime/kernels/cpu/Kernels.def"
    },
#undef VT_KERNEL
#undef VT_MATMUL
};

const NativeKernels *nativeKernels() { return table; }

#define VT_KERNEL(NAME, PARAMS)
VtMatMul *NativeKernels::matmul(Format f) const {
  switch (f) {
#define VT_MATMUL(E, NAME)                                                                         \
  case Format::E:                                                                                  \
    return vt_matmul_##NAME;
#include "runtime/kernels/cpu/Kernels.def"
#undef VT_MATMUL
  default:
    return nullptr;
  }
}

VtGather *NativeKernels::gather(Format f) const {
  switch (f) {
#define VT_MATMUL(E, NAME)                                                                         \
  case Format::E:                                                                                  \
    return vt_gather_##NAME;
#include "runtime/kernels/cpu/Kernels.def"
#undef VT_MATMUL
  default:
    return nullptr;
  }
}
#undef VT_KERNEL

} // namespace vetro
