// The level being compiled: CMake names its header (VT_SIMD). The only place where levels differ.
//   fma, fromF16, toF16, roundToInt, sqrt, lookup16   on 16 lanes
//   dotWord, asSigned                                 int8 dot products, exact at every level
//   matmulTokens, floatTokens, signedOffset             constants
#pragma once
#include VT_SIMD
