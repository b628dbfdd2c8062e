// Which kernel levels this CPU can run.
#include "runtime/kernels/cpu/Bitcode.h"

static bool equal(const char *a, const char *b) { return __builtin_strcmp(a, b) == 0; }

bool vetro::cpuHasLevel(const char *level) {
  __builtin_cpu_init();
  if (equal(level, "scalar"))
    return true;
  if (equal(level, "avx2"))
    return __builtin_cpu_supports("x86-64-v3");
  if (equal(level, "avx512"))
    return __builtin_cpu_supports("x86-64-v4");
  // What the icelake-server level may use beyond x86-64-v4.
  if (equal(level, "vnni"))
    return __builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512vnni") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vpopcntdq") &&
           __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("gfni") &&
           __builtin_cpu_supports("vpclmulqdq");
  return false;
}
