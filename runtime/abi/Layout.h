// The layout "rows16" of weights in memory: row tiles, made once at load from the file's rows.
// A vector kernel gives each of its 16 lanes one row, so 16 rows lie interleaved word by word.
//
// A tile holds 16 rows of K values. A field of a block (its scales, its quants, ...) is cut into
// words of 2 or 4 bytes; word w of rows 0..15 lie beside each other. All blocks' scale fields come
// first (plane 0), then all quants (plane 1); each plane is padded to 64 bytes:
//
//   Q4_1, K = 64 (two blocks of 20 bytes per row): plane 0 = [d x16][m x16] [d x16][m x16] = 128 B,
//   plane 1 = per block 4 words x 16 rows = 2 * 256 B; byte 64 * v + 4 * row + i of a block is
//   qs[4 * v + i] of that row: elements 4v + i (low nibble) and 16 + 4v + i (high nibble).
//
// Rows that the last tile lacks are zero. The layout is a bijection: unpackRow() gives the file's
// bytes back. Freestanding.
#pragma once
#include "runtime/abi/Dequantize.h"
#include "runtime/abi/Kernel.h"

namespace vetro {

/// A run of bytes in a block that is cut into words.
struct TileField {
  uint16_t offset, bytes; ///< in the file's block
  uint8_t word;           ///< bytes per word: 2 or 4
  uint8_t plane;          ///< 0: scales, 1: quants
};

/// The fields of one block, which together cover it, in their order within each plane.
struct TileLayout {
  uint16_t blockLen, blockBytes; ///< of a packed block: BF16's is a pair of values
  uint8_t numFields;             ///< 0: the format has no row tiles
  TileField fields[5];
};

inline constexpr unsigned tilePlanes = 2;
inline constexpr uint64_t tileAlign = 64;

/// One line per line of Format.def.
inline constexpr TileLayout tileLayoutTable[numFormats] = {
    /* F32    */ {1, 4, 1, {{0, 4, 4, 1}}},
    /* F16    */ {1, 2, 1, {{0, 2, 2, 1}}},
    /* Q4_0   */ {32, 18, 2, {{0, 2, 2, 0}, {2, 16, 4, 1}}},
    /* Q4_1   */ {32, 20, 3, {{0, 2, 2, 0}, {2, 2, 2, 0}, {4, 16, 4, 1}}},
    /* Q5_0   */ {32, 22, 3, {{0, 2, 2, 0}, {2, 4, 4, 1}, {6, 16, 4, 1}}},
    /* Q5_1   */ {32, 24, 4, {{0, 2, 2, 0}, {2, 2, 2, 0}, {4, 4, 4, 1}, {8, 16, 4, 1}}},
    /* Q8_0   */ {32, 34, 2, {{0, 2, 2, 0}, {2, 32, 4, 1}}},
    /* Q2_K   */ {256, 84, 4, {{80, 2, 2, 0}, {82, 2, 2, 0}, {0, 16, 4, 0}, {16, 64, 4, 1}}},
    /* Q3_K   */ {256, 110, 4, {{96, 12, 4, 0}, {108, 2, 2, 0}, {0, 32, 4, 1}, {32, 64, 4, 1}}},
    /* Q4_K   */ {256, 144, 4, {{0, 2, 2, 0}, {2, 2, 2, 0}, {4, 12, 4, 0}, {16, 128, 4, 1}}},
    /* Q5_K   */
    {256, 176, 5, {{0, 2, 2, 0}, {2, 2, 2, 0}, {4, 12, 4, 0}, {16, 32, 4, 1}, {48, 128, 4, 1}}},
    /* Q6_K   */ {256, 210, 4, {{192, 16, 4, 0}, {208, 2, 2, 0}, {0, 128, 4, 1}, {128, 64, 4, 1}}},
    /* IQ4_NL */ {32, 18, 2, {{0, 2, 2, 0}, {2, 16, 4, 1}}},
    {}, // I8
    {}, // I16
    {}, // I32
    {}, // I64
    {}, // F64
    /* BF16   */ {2, 4, 1, {{0, 4, 4, 1}}},
};

constexpr const TileLayout &tileLayout(Format f) { return tileLayoutTable[(unsigned)f]; }

/// Whether weights of this format can be packed.
constexpr bool hasTiles(Format f) { return tileLayout(f).numFields != 0; }

/// Bytes that one block of 16 rows takes in a plane, and where a field lies within them.
constexpr uint64_t tileBlockBytes(Format f, unsigned plane) {
  uint64_t bytes = 0;
  const TileLayout &layout = tileLayout(f);
  for (unsigned i = 0; i < layout.numFields; ++i)
    bytes += layout.fields[i].plane == plane ? layout.fields[i].bytes * tileRows : 0;
  return bytes;
}
constexpr uint64_t tileFieldOffset(Format f, unsigned field) {
  uint64_t bytes = 0;
  const TileLayout &layout = tileLayout(f);
  for (unsigned i = 0; i < field; ++i)
    bytes += layout.fields[i].plane == layout.fields[field].plane
                 ? layout.fields[i].bytes * tileRows
                 : 0;
  return bytes;
}

/// Packed blocks of a row of k values; only BF16 rounds up (an odd k, its last value zero).
constexpr uint64_t tileBlocks(Format f, uint64_t k) {
  return (k + tileLayout(f).blockLen - 1) / tileLayout(f).blockLen;
}

/// Bytes of a plane of one tile, and where the plane begins.
constexpr uint64_t tilePlaneBytes(Format f, uint64_t k, unsigned plane) {
  return (tileBlocks(f, k) * tileBlockBytes(f, plane) + tileAlign - 1) / tileAlign * tileAlign;
}
constexpr uint64_t tilePlaneOffset(Format f, uint64_t k, unsigned plane) {
  return plane == 0 ? 0 : tilePlaneBytes(f, k, 0);
}

/// Bytes of one tile of rows of k values, a multiple of 64.
constexpr uint64_t tileBytes(Format f, uint64_t k) {
  return tilePlaneBytes(f, k, 0) + tilePlaneBytes(f, k, 1);
}

/// Bytes of a packed tensor of n rows of k values.
constexpr uint64_t packedBytes(Format f, uint64_t n, uint64_t k) {
  return (n + tileRows - 1) / tileRows * tileBytes(f, k);
}

typedef uint32_t TileWords4 __attribute__((vector_size(16)));

/// Moves four words of four rows: a 4 x 4 transpose. Source i is src[i], destination row stride
/// is one word of 16 rows.
inline void transposeWords4(const uint8_t *const *src, uint64_t offset, uint8_t *dst) {
  TileWords4 r[4];
  for (int i = 0; i < 4; ++i)
    __builtin_memcpy(&r[i], src[i] + offset, 16);
  TileWords4 a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
  TileWords4 b = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
  TileWords4 c = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
  TileWords4 d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  TileWords4 out[4] = {
      __builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
      __builtin_shufflevector(c, d, 0, 1, 4, 5), __builtin_shufflevector(c, d, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i)
    __builtin_memcpy(dst + i * 4 * tileRows, &out[i], 16);
}

/// Moves `bytes` bytes of 16 rows, cut into words, interleaved.
inline void interleaveRows(unsigned word, uint32_t bytes, const uint8_t *const rows[16],
                           uint8_t *dst) {
  uint32_t byte = 0;
  if (word == 4)
    for (; byte + 16 <= bytes; byte += 16)
      for (uint32_t r = 0; r < tileRows; r += 4)
        transposeWords4(rows + r, byte, dst + byte * tileRows + r * 4);
  for (; byte < bytes; byte += word)
    for (uint32_t r = 0; r < tileRows; ++r)
      if (word == 4)
        __builtin_memcpy(dst + byte * tileRows + r * 4, rows[r] + byte, 4);
      else
        __builtin_memcpy(dst + byte * tileRows + r * 2, rows[r] + byte, 2);
}

/// Writes `count` blocks of a tile from block `first` on; rows[r] is that block of row r. Several
/// at once only where a block is one field.
inline void packBlocks(Format f, uint64_t k, const uint8_t *const rows[16], uint64_t first,
                       uint32_t count, uint8_t *tile) {
  const TileLayout &layout = tileLayout(f);
  for (unsigned i = 0; i < layout.numFields; ++i) {
    const TileField &field = layout.fields[i];
    const uint8_t *src[16];
    for (uint32_t r = 0; r < tileRows; ++r)
      src[r] = rows[r] + field.offset;
    interleaveRows(field.word, field.bytes * count, src,
                   tile + tilePlaneOffset(f, k, field.plane) +
                       first * tileBlockBytes(f, field.plane) + tileFieldOffset(f, i));
  }
}

/// Clears the padding that ends a plane.
inline void clearTilePadding(Format f, uint64_t k, uint8_t *tile) {
  for (unsigned p = 0; p < tilePlanes; ++p) {
    uint8_t *plane = tile + tilePlaneOffset(f, k, p);
    for (uint64_t i = tileBlocks(f, k) * tileBlockBytes(f, p); i < tilePlaneBytes(f, k, p); ++i)
      plane[i] = 0;
  }
}

/// Writes one tile (tileBytes(f, k) bytes) from 16 rows as the file stores them; a row that the
/// tensor lacks is null and becomes zero. hasTiles(f) holds, k is a multiple of the format's block.
inline void packTile(Format f, uint64_t k, const uint8_t *const rows[16], uint8_t *tile) {
  static constexpr uint8_t zeros[256] = {}; // as long as what packBlocks() reads at once
  const TileLayout &layout = tileLayout(f);
  const uint8_t *src[16];
  for (uint32_t r = 0; r < tileRows; ++r)
    src[r] = rows[r] ? rows[r] : zeros;
  uint64_t whole = k / layout.blockLen, block = 0;
  while (block < whole) {
    uint32_t count = layout.numFields == 1 && whole - block >= 64 ? 64 : 1;
    packBlocks(f, k, src, block, count, tile);
    block += count;
    for (uint32_t r = 0; r < tileRows; ++r)
      src[r] += rows[r] ? (uint64_t)count * layout.blockBytes : 0;
  }
  if (block < tileBlocks(f, k)) { // the half pair that ends a BF16 row of odd length
    uint8_t last[16][4] = {};
    for (uint32_t r = 0; r < tileRows; ++r) {
      last[r][0] = src[r][0], last[r][1] = src[r][1];
      src[r] = last[r];
    }
    packBlocks(f, k, src, block, 1, tile);
  }
  clearTilePadding(f, k, tile);
}

/// Writes block `block` of one row of a tile as the file stores it.
inline void unpackBlock(Format f, uint64_t k, const uint8_t *tile, uint64_t lane, uint64_t block,
                        uint8_t *out) {
  const TileLayout &layout = tileLayout(f);
  for (unsigned i = 0; i < layout.numFields; ++i) {
    const TileField &field = layout.fields[i];
    const uint8_t *src = tile + tilePlaneOffset(f, k, field.plane) +
                         block * tileBlockBytes(f, field.plane) + tileFieldOffset(f, i) +
                         lane * field.word;
    for (uint32_t byte = 0; byte < field.bytes; ++byte)
      out[field.offset + byte] = src[byte / field.word * field.word * tileRows + byte % field.word];
  }
}

/// Writes row `row` of a packed tensor as the file stores it: rowBytes(f, k) bytes.
inline void unpackRow(Format f, uint64_t k, const uint8_t *packed, uint64_t row, uint8_t *blocks) {
  const TileLayout &layout = tileLayout(f);
  const uint8_t *tile = packed + row / tileRows * tileBytes(f, k);
  uint64_t lane = row % tileRows, whole = k / layout.blockLen;
  for (uint64_t block = 0; block < whole; ++block)
    unpackBlock(f, k, tile, lane, block, blocks + block * layout.blockBytes);
  if (whole < tileBlocks(f, k)) { // the half pair that ends a BF16 row of odd length
    uint8_t pair[4];
    unpackBlock(f, k, tile, lane, whole, pair);
    blocks[whole * 4] = pair[0], blocks[whole * 4 + 1] = pair[1];
  }
}

} // namespace vetro
