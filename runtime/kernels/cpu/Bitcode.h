// The kernel modules inside this program: LLVM bitcode, one per instruction set level.
// In the token's cycle: the JIT links the host's level into the plan's module.
#pragma once

namespace vetro {

/// One embedded module. Bytes [begin, end) are a bitcode file; valid for the program's life.
struct KernelBitcode {
  const char *level; ///< "scalar", "avx2", "avx512" or "vnni"
  const char *begin, *end;
};

inline constexpr unsigned numKernelLevels = 4;

/// All levels, lowest first.
const KernelBitcode *kernelBitcode();

/// Whether this CPU (and its operating system) can run `level`; false for an unknown name.
bool cpuHasLevel(const char *level);

} // namespace vetro
