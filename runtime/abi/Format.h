// The storage formats of weights: names, GGUF ids, block lengths and bytes (table: Format.def).
// Freestanding: kernels, compiler and loader all include it.
#pragma once

namespace vetro {

enum class Format : unsigned char {
#define VT_FORMAT(E, N, ID, LEN, BYTES, CODES, CODES_END) E,
#include "runtime/abi/Format.def"
#undef VT_FORMAT
};

/// What one line of Format.def says.
struct FormatInfo {
  Format format;
  const char *name;    ///< lower case, as in the IR: "q4_1"
  unsigned ggufId;     ///< tensor type id in a GGUF file
  unsigned blockLen;   ///< elements per block; a row holds whole blocks
  unsigned blockBytes; ///< bytes per block
  unsigned codesBegin; ///< bytes [codesBegin, codesEnd) count from the block's minima; without
  unsigned codesEnd;   ///< minima: all bytes
};

inline constexpr FormatInfo formatTable[] = {
#define VT_FORMAT(E, N, ID, LEN, BYTES, CODES, CODES_END)                                          \
  {Format::E, N, ID, LEN, BYTES, CODES, CODES_END},
#include "runtime/abi/Format.def"
#undef VT_FORMAT
};
inline constexpr unsigned numFormats = sizeof(formatTable) / sizeof(formatTable[0]);

constexpr const FormatInfo &formatInfo(Format f) { return formatTable[static_cast<unsigned>(f)]; }

/// The format with this GGUF type id, or null.
constexpr const FormatInfo *formatByGgufId(unsigned id) {
  for (const FormatInfo &info : formatTable)
    if (info.ggufId == id)
      return &info;
  return nullptr;
}

/// Bytes of a row of `n` elements; `n` is a multiple of the block length.
constexpr unsigned long long rowBytes(Format f, unsigned long long n) {
  return n / formatInfo(f).blockLen * formatInfo(f).blockBytes;
}

} // namespace vetro
