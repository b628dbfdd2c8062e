// How kernels are named. In bitcode a kernel has its plain name, so that the JIT finds it at every
// level; natively all levels live in one program and the name carries the level.
#pragma once

#define VT_JOIN_(A, B, C) A##B##C
#define VT_JOIN(A, B, C) VT_JOIN_(A, B, C)
#ifdef VT_SUFFIX
#define VT_NAME(NAME) VT_JOIN(NAME, __, VT_SUFFIX)
#else
#define VT_NAME(NAME) NAME
#endif

/// Opens a kernel's definition: `VT_EXPORT void VT_NAME(vt_rope)(...) {`.
#define VT_EXPORT extern "C" __attribute__((visibility("default")))

/// For helpers, static members among them: inlined everywhere, so nothing is shared between levels.
/// VT_OUTLINE is for what several kernels share.
#define VT_INLINE static inline __attribute__((always_inline))
#define VT_OUTLINE static __attribute__((noinline))

/// Before a loop of constant length that works on registers.
#define VT_UNROLL _Pragma("clang loop unroll(full)")
