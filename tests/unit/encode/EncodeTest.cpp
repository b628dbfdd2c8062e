// Encoders: the bytes of gguf-py where it encodes; elsewhere what comes back is near what went in.
#include "frontends/gguf/Encode.h"
#include "frontends/gguf/Gguf.h"
#include "runtime/abi/Dequantize.h"
#include "tests/unit/Catch.h"
#include "tests/unit/Normals.h"
#include "tests/unit/TestData.h"

#include <cmath>

using namespace vetro;

namespace {

std::vector<uint8_t> encoded(Format format, const std::vector<float> &values) {
  std::vector<uint8_t> blocks(rowBytes(format, values.size()));
  gguf::encodeRow(format, values.data(), values.size(), blocks.data());
  return blocks;
}

std::vector<float> roundTrip(Format format, const std::vector<float> &values) {
  std::vector<float> result(values.size());
  std::vector<uint8_t> blocks = encoded(format, values);
  dequantizeRow(format, blocks.data(), values.size(), result.data());
  return result;
}

double nmse(const std::vector<float> &x, const std::vector<float> &y) {
  double error = 0, power = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    error += std::pow(double(x[i]) - y[i], 2);
    power += std::pow(double(x[i]), 2);
  }
  return error / power;
}

/// What each format loses of normal values, mean square error over mean square: what was measured
/// and a tenth. A code in the wrong place costs far more.
struct Loss {
  Format format;
  double atMost;
};
constexpr Loss losses[] = {
    {Format::F32, 0},        {Format::F16, 4.7e-8},    {Format::BF16, 3.1e-6},
    {Format::Q8_0, 3.2e-5},  {Format::Q4_0, 8.1e-3},   {Format::Q4_1, 6.9e-3},
    {Format::Q5_0, 2.02e-3}, {Format::Q5_1, 1.57e-3},  {Format::Q2_K, 8.6e-2},
    {Format::Q3_K, 2.44e-2}, {Format::Q4_K, 6.2e-3},   {Format::Q5_K, 1.51e-3},
    {Format::Q6_K, 3.75e-4}, {Format::IQ4_NL, 6.6e-3},
};

} // namespace

TEST_CASE("the bytes are those of gguf-py") {
  auto file = gguf::File::open(test::sourceDir() + "/tests/unit/encode/vectors.gguf");
  REQUIRE(bool(file));
  const gguf::TensorInfo *f32 = (*file)->findTensor("f32");
  REQUIRE(f32);
  llvm::ArrayRef<uint8_t> raw = (*file)->data(*f32);
  std::vector<float> values(raw.size() / sizeof(float));
  std::memcpy(values.data(), raw.data(), raw.size());
  for (Format format : {Format::F16, Format::BF16, Format::Q8_0, Format::Q4_0, Format::Q4_1,
                        Format::Q5_0, Format::Q5_1}) {
    INFO(formatInfo(format).name);
    const gguf::TensorInfo *tensor = (*file)->findTensor(formatInfo(format).name);
    REQUIRE(tensor);
    std::vector<uint8_t> blocks = encoded(format, values);
    llvm::ArrayRef<uint8_t> expected = (*file)->data(*tensor);
    REQUIRE(blocks.size() == expected.size());
    unsigned blockBytes = formatInfo(format).blockBytes;
    for (size_t i = 0; i < blocks.size(); i += blockBytes) {
      INFO("block " << i / blockBytes);
      REQUIRE(expected.slice(i, blockBytes) == llvm::ArrayRef(blocks).slice(i, blockBytes));
    }
  }
}

TEST_CASE("every weight format has an encoder and a bound") {
  for (unsigned i = 0; i < numFormats; ++i) {
    INFO(formatTable[i].name);
    CHECK(gguf::canEncode(Format(i)) == canDequantize(Format(i)));
    bool bound = llvm::any_of(losses, [&](const Loss &l) { return l.format == Format(i); });
    CHECK(bound == canDequantize(Format(i)));
  }
}

TEST_CASE("normal values lose no more than the format must") {
  for (float scale : {1.0f, 0.03f}) {
    std::vector<float> values = test::normals(256 * 64, 3, scale);
    for (const Loss &loss : losses) {
      double found = nmse(values, roundTrip(loss.format, values));
      INFO(formatInfo(loss.format).name << " at scale " << scale << ": " << found);
      CHECK(found <= loss.atMost);
    }
  }
}

TEST_CASE("values of one sign and with outliers lose little") {
  std::vector<float> values = test::normals(256 * 16, 5);
  for (size_t i = 0; i < values.size(); ++i) {
    if (i < values.size() / 2)
      values[i] = std::abs(values[i]) * (i % 512 < 256 ? 1 : -1);
    if (i % 256 == 17)
      values[i] *= 20;
  }
  for (const Loss &loss : losses) {
    double found = nmse(values, roundTrip(loss.format, values));
    INFO(formatInfo(loss.format).name << ": " << found);
    CHECK(found <= 4 * loss.atMost);
  }
}

TEST_CASE("zeros stay zeros, equal values stay near") {
  for (const Loss &loss : losses) {
    INFO(formatInfo(loss.format).name);
    for (float v : roundTrip(loss.format, std::vector<float>(256, 0.0f)))
      REQUIRE(v == 0);
    for (float value : {1.25f, -1.25f})
      for (float v : roundTrip(loss.format, std::vector<float>(256, value)))
        REQUIRE(v == Approx(value).epsilon(0.04));
  }
}

TEST_CASE("what a format can hold comes back unchanged") {
  for (const Loss &loss : losses) {
    INFO(formatInfo(loss.format).name);
    std::vector<float> once = roundTrip(loss.format, test::normals(256 * 8, 7));
    CHECK(nmse(once, roundTrip(loss.format, once)) <= loss.atMost / 4);
  }
}

TEST_CASE("blocks do not depend on their neighbours") {
  std::vector<float> values = test::normals(512, 11);
  for (const Loss &loss : losses) {
    INFO(formatInfo(loss.format).name);
    std::vector<float> second(values.begin() + 256, values.end());
    std::vector<uint8_t> both = encoded(loss.format, values), alone = encoded(loss.format, second);
    CHECK(llvm::ArrayRef(both).take_back(alone.size()) == llvm::ArrayRef(alone));
  }
}

TEST_CASE("values too small for a scale become zero") {
  for (const Loss &loss : losses)
    for (float scale : {1e-38f, 1e-44f}) {
      INFO(formatInfo(loss.format).name << " at scale " << scale);
      std::vector<float> values = test::normals(256, 13);
      for (float &v : values)
        v = std::clamp(v, -1.0f, 1.0f) * scale;
      for (float v : roundTrip(loss.format, values))
        REQUIRE(std::abs(v) <= 1.01f * scale);
    }
}
