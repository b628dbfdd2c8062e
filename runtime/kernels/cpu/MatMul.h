// Signatures of the matmul and gather kernels.
#pragma once
#include <stdint.h>

namespace vetro {

/// y[t][r] = sum_k w[r][k] * x[t][k] for rows [rowBegin, rowEnd) of a packed weight (Layout.h) and
/// nTokens tokens.
///   w        the packed tensor [N][k], 64-byte aligned; k a multiple of the format's block
///   rowBegin a multiple of tileRows; rowEnd <= N, any
///   x        record i at byte i * xStride: an a8 record (Kernel.h) for quantised formats, k floats
///            for F32, F16 and BF16
///   records  1, or 2 with a8x2: token t has records t * `records` on, whose products are added
///   y        (token 0, rowBegin); token t at t * yStride floats
/// The bits of y[t][r] depend on neither nTokens nor the row range.
using VtMatMul = void(const void *w, uint64_t k, uint32_t rowBegin, uint32_t rowEnd, const void *x,
                      uint64_t xStride, uint32_t records, uint32_t nTokens, float *y,
                      uint64_t yStride);

/// y[0..k) = row `row` of a packed weight as floats, exactly dequantizeRow()'s values.
using VtGather = void(const void *w, uint64_t k, uint64_t row, float *y);

} // namespace vetro
