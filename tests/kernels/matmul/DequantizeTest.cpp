// The meaning of each format against gguf-py's values, and the 16-bit floats against themselves.
#include "runtime/abi/Dequantize.h"
#include "tests/unit/Catch.h"
#include "tests/unit/TestData.h"
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

using namespace vetro;

static std::vector<uint8_t> fromHex(const std::string &text) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back((uint8_t)std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

static Format formatNamed(const std::string &name) {
  for (const FormatInfo &info : formatTable)
    if (name == info.name)
      return info.format;
  FAIL("no format " << name);
  return Format::F32;
}

TEST_CASE("dequantizeRow gives gguf-py's values, bit for bit") {
  std::ifstream file(test::sourceDir() + "/tests/kernels/matmul/dequantize.txt");
  std::string line;
  unsigned formats = 0;
  while (std::getline(file, line)) {
    if (line[0] == '#')
      continue;
    std::istringstream words(line);
    std::string name, blocks, values;
    words >> name >> blocks >> values;
    Format f = formatNamed(name);
    REQUIRE(canDequantize(f));
    std::vector<uint8_t> row = fromHex(blocks);
    uint64_t n = row.size() / formatInfo(f).blockBytes * formatInfo(f).blockLen;
    REQUIRE(values.size() == n * 8);
    std::vector<float> out(n);
    dequantizeRow(f, row.data(), n, out.data());
    for (uint64_t i = 0; i < n; ++i) {
      INFO(name << " element " << i << " = " << out[i]);
      uint32_t bits;
      memcpy(&bits, &out[i], 4);
      REQUIRE(bits == std::stoul(values.substr(8 * i, 8), nullptr, 16));
    }
    ++formats;
  }
  REQUIRE(formats == 14);
}

TEST_CASE("keepMinima leaves what a format adds to scale * code") {
  const std::set<std::string> withMinima = {"q4_1", "q5_1", "q2_K", "q4_K", "q5_K"};
  for (const FormatInfo &info : formatTable) {
    Format f = info.format;
    if (!canDequantize(f))
      continue;
    INFO(info.name);
    bool hasMinima = withMinima.count(info.name);
    std::vector<uint8_t> block(info.blockBytes);
    for (size_t i = 0; i < block.size(); ++i) // f16 scales between 2^-7 and 2^9, all codes
      block[i] = uint8_t(0x21 + (i * 37) % 0x3f);
    std::vector<float> values(info.blockLen), minima(info.blockLen);
    dequantizeRow(f, block.data(), info.blockLen, values.data());
    keepMinima(f, block.data());
    dequantizeRow(f, block.data(), info.blockLen, minima.data());
    bool anyMinimum = false;
    for (size_t i = 0; i < minima.size(); ++i) {
      anyMinimum |= minima[i] != 0;
      CHECK(minima[i] == minima[i / 16 * 16]); // one for each scale block, whatever the codes
      if (hasMinima)
        CHECK(values[i] >= minima[i]); // codes and scales are not negative here
    }
    CHECK(anyMinimum == hasMinima);
  }
}

TEST_CASE("f16: all 65536 values survive the way to float and back") {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    float f = f16ToFloat((uint16_t)h);
    _Float16 hardware;
    uint16_t bits = (uint16_t)h;
    memcpy(&hardware, &bits, 2);
    if (std::isnan(f)) {
      REQUIRE(std::isnan((float)hardware));
      REQUIRE(floatToF16(f) == (h | 0x0200));
    } else {
      REQUIRE(f == (float)hardware);
      REQUIRE(floatToF16(f) == h);
    }
  }
}

TEST_CASE("floatToF16 rounds to nearest even like the compiler's conversion") {
  uint32_t bits = 12345;
  for (int i = 0; i < 300000; ++i) {
    bits = bits * 1664525 + 1013904223;
    // Half of the values lie where f16 has denormals, normals and its largest numbers.
    uint32_t b = i % 2 ? bits : (bits & 0x8fffffff) | 0x30000000 | (bits >> 3 & 0x10000000);
    float f;
    memcpy(&f, &b, 4);
    if (std::isnan(f))
      continue;
    _Float16 hardware = (_Float16)f;
    uint16_t want;
    memcpy(&want, &hardware, 2);
    INFO(f);
    REQUIRE(floatToF16(f) == want);
  }
}

TEST_CASE("bf16 rounds to nearest even") {
  REQUIRE(floatToBf16(1.0f) == 0x3f80);
  REQUIRE(floatToBf16(1.00390625f) == 0x3f80); // halfway, even below
  REQUIRE(floatToBf16(1.01171875f) == 0x3f82); // halfway, even above
  REQUIRE(floatToBf16(1.0039064f) == 0x3f81);  // just over halfway
  REQUIRE(floatToBf16(3.4e38f) == 0x7f80);     // rounds to infinity
  REQUIRE(std::isnan(bf16ToFloat(floatToBf16(NAN))));
  for (uint32_t h = 0; h < 0x7f80; ++h)
    REQUIRE(floatToBf16(bf16ToFloat((uint16_t)h)) == h);
}
