// The table of embedded kernel modules, and which of them this CPU can run.
#include "runtime/kernels/cpu/Bitcode.h"

extern "C" {
extern const char vt_kernels_scalar_begin[], vt_kernels_scalar_end[];
extern const char vt_kernels_avx2_begin[], vt_kernels_avx2_end[];
extern const char vt_kernels_avx512_begin[], vt_kernels_avx512_end[];
extern const char vt_kernels_vnni_begin[], vt_kernels_vnni_end[];
}

namespace vetro {

static const KernelBitcode table[numKernelLevels] = {
    {"scalar", vt_kernels_scalar_begin, vt_kernels_scalar_end},
    {"avx2", vt_kernels_avx2_begin, vt_kernels_avx2_end},
    {"avx512", vt_kernels_avx512_begin, vt_kernels_avx512_end},
    {"vnni", vt_kernels_vnni_begin, vt_kernels_vnni_end},
};

const KernelBitcode *kernelBitcode() { return table; }

} // namespace vetro
