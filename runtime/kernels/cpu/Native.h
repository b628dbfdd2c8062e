// The kernels as machine code of this program, per level: for tests, sanitizers and benchmarks.
// The engine itself runs the bitcode of the same sources (Bitcode.h).
#pragma once
#include "runtime/abi/Format.h"
#include "runtime/abi/Kernel.h"
#include "runtime/kernels/cpu/MatMul.h"

namespace vetro {

/// One level's kernels: a member of each kernel's own name, `levels[i].vt_matmul_q4_1(...)`.
struct NativeKernels {
  const char *level;
#define VT_KERNEL(NAME, PARAMS) void(*NAME) PARAMS;
#define VT_MATMUL(E, NAME)                                                                         \
  VtMatMul *vt_matmul_##NAME;                                                                      \
  VtGather *vt_gather_##NAME;
#include "runtime/kernels/cpu/Kernels.def"
#undef VT_KERNEL
#undef VT_MATMUL
  /// The matmul / gather of a format, null where there is none.
  VtMatMul *matmul(Format f) const;
  VtGather *gather(Format f) const;
};

/// All levels, lowest first, in the order of kernelBitcode(). Ask cpuHasLevel() before calling.
const NativeKernels *nativeKernels();

} // namespace vetro
