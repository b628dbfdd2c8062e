// Row tiles: a bijection for every format, with the bytes where the layout says.
#include "runtime/abi/Layout.h"
#include "tests/unit/Catch.h"
#include <algorithm>
#include <random>
#include <vector>

using namespace vetro;

/// Packs `n` rows as a loader would, into memory full of garbage.
static std::vector<uint8_t> pack(Format f, uint64_t n, uint64_t k,
                                 const std::vector<uint8_t> &file) {
  std::vector<uint8_t> packed(packedBytes(f, n, k), 0xa5);
  for (uint64_t tile = 0; tile * tileRows < n; ++tile) {
    const uint8_t *rows[16];
    for (uint64_t r = 0; r < tileRows; ++r)
      rows[r] = tile * tileRows + r < n ? &file[(tile * tileRows + r) * rowBytes(f, k)] : nullptr;
    packTile(f, k, rows, &packed[tile * tileBytes(f, k)]);
  }
  return packed;
}

TEST_CASE("the fields of each format cover its block once") {
  for (const FormatInfo &info : formatTable) {
    INFO(info.name);
    REQUIRE(hasTiles(info.format) == canDequantize(info.format));
    if (!hasTiles(info.format))
      continue;
    const TileLayout &layout = tileLayout(info.format);
    std::vector<int> covered(layout.blockBytes);
    for (unsigned i = 0; i < layout.numFields; ++i)
      for (unsigned b = 0; b < layout.fields[i].bytes; ++b)
        ++covered[layout.fields[i].offset + b];
    for (int c : covered)
      REQUIRE(c == 1);
    REQUIRE(layout.blockLen % info.blockLen == 0);
    REQUIRE(layout.blockBytes == rowBytes(info.format, layout.blockLen));
  }
}

TEST_CASE("unpackRow gives back the bytes of every row") {
  std::mt19937 random(7);
  for (const FormatInfo &info : formatTable) {
    Format f = info.format;
    if (!hasTiles(f))
      continue;
    for (uint64_t n : {1, 15, 16, 17, 33})
      for (uint64_t blocks : {1, 3, 8, 131}) {
        INFO(info.name << " rows " << n << " blocks " << blocks);
        uint64_t k = blocks * info.blockLen, bytes = rowBytes(f, k);
        std::vector<uint8_t> file(n * bytes);
        for (uint8_t &b : file)
          b = (uint8_t)random();
        std::vector<uint8_t> packed = pack(f, n, k, file);
        std::vector<uint8_t> row(bytes + 1, 0x77);
        bool same = true;
        for (uint64_t r = 0; r < n; ++r) {
          unpackRow(f, k, packed.data(), r, row.data());
          same &= std::equal(row.begin(), row.end() - 1, file.begin() + r * bytes);
        }
        REQUIRE(same);
        REQUIRE(row.back() == 0x77); // nothing written behind the row
        for (uint64_t r = n; r % tileRows; ++r) {
          unpackRow(f, k, packed.data(), r, row.data());
          REQUIRE(std::count(row.begin(), row.end() - 1, 0) == (long)bytes);
        }
      }
  }
}

TEST_CASE("a Q4_1 tile has its bytes where Layout.h says") {
  uint64_t k = 64, bytes = rowBytes(Format::Q4_1, k);
  REQUIRE(tileBytes(Format::Q4_1, k) == 128 + 512);
  std::vector<uint8_t> file(16 * bytes);
  for (size_t i = 0; i < file.size(); ++i)
    file[i] = (uint8_t)(i * 7);
  std::vector<uint8_t> tile = pack(Format::Q4_1, 16, k, file);
  for (int row = 0; row < 16; ++row)
    for (int block = 0; block < 2; ++block) {
      const uint8_t *b = &file[row * bytes + block * 20];
      REQUIRE(tile[block * 64 + 2 * row] == b[0]);          // d
      REQUIRE(tile[block * 64 + 32 + 2 * row + 1] == b[3]); // m
      for (int v = 0; v < 4; ++v)
        for (int i = 0; i < 4; ++i)
          REQUIRE(tile[128 + block * 256 + 64 * v + 4 * row + i] == b[4 + 4 * v + i]);
    }
}

TEST_CASE("tiles and planes keep 64-byte alignment") {
  for (const FormatInfo &info : formatTable)
    if (hasTiles(info.format))
      for (uint64_t blocks : {1, 2, 3, 7}) {
        REQUIRE(tileBytes(info.format, blocks * info.blockLen) % 64 == 0);
        REQUIRE(tilePlaneOffset(info.format, blocks * info.blockLen, 1) % 64 == 0);
      }
}
