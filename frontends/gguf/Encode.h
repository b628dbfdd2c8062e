// Weights to blocks: the reverse of runtime/abi/Dequantize.h, one plain function per format. For
// make-tiny and tools that write files; nothing in a token's cycle calls it.
#pragma once
#include "runtime/abi/Format.h"
#include <cstdint>

namespace vetro::gguf {

/// Whether encodeRow() knows the format: F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K,
/// Q4_K, Q5_K, Q6_K, IQ4_NL.
bool canEncode(Format format);

/// Writes the blocks of a row of `n` values, rowBytes(format, n) bytes. `n` is a multiple of the
/// block length, canEncode(format) holds. Values should be finite and within f16's range: a scale
/// beyond it becomes infinite. The formats that gguf-py encodes (F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0,
/// Q5_1) come out as the same bytes (ggml-org/llama.cpp, gguf-py/gguf/quants.py).
void encodeRow(Format format, const float *values, uint64_t n, uint8_t *blocks);

} // namespace vetro::gguf
