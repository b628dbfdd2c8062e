// Scale fields of every quantised format: a scale that is infinite is found in each, whichever
// block it is in, and finite ones are not.
#include "tests/unit/gguf/TinyGguf.h"

using namespace vetro;
using namespace vetro::test;

namespace {
struct Field {
  Format format;
  unsigned offset; ///< of the F16 in a block, from the block structures of ggml
};
} // namespace

static void put16(std::vector<uint8_t> &data, size_t offset, uint16_t bits) {
  std::memcpy(&data[offset], &bits, sizeof(bits));
}

static constexpr Field fields[] = {
    {Format::Q4_0, 0},  {Format::Q4_1, 0},   {Format::Q4_1, 2},   {Format::Q5_0, 0},
    {Format::Q5_1, 0},  {Format::Q5_1, 2},   {Format::Q8_0, 0},   {Format::Q2_K, 80},
    {Format::Q2_K, 82}, {Format::Q3_K, 108}, {Format::Q4_K, 0},   {Format::Q4_K, 2},
    {Format::Q5_K, 0},  {Format::Q5_K, 2},   {Format::Q6_K, 208}, {Format::IQ4_NL, 0},
};

TEST_CASE("an infinite scale is found in every format and place") {
  for (Field field : fields) {
    const FormatInfo &info = formatInfo(field.format);
    constexpr uint64_t blocksPerRow = 3, rows = 700; // more blocks than one stretch of the scan
    std::vector<uint8_t> data(blocksPerRow * rows * info.blockBytes, 0xff);
    for (uint64_t b = 0; b < blocksPerRow * rows; ++b)
      for (const Field &other : fields)
        if (other.format == field.format)
          put16(data, b * info.blockBytes + other.offset, 0x3c00);
    for (uint64_t bad : {uint64_t(0), uint64_t(1023), uint64_t(1024), blocksPerRow * rows - 1}) {
      gguf::Writer writer;
      writer.addTensor("w", field.format, {blocksPerRow * info.blockLen, rows}, data);
      auto good = accepted(openBytes(bytesOf(writer)));
      CHECK(llvm::toString(gguf::checkScales(*good, good->tensors()[0])) == "");
      put16(data, bad * info.blockBytes + field.offset, 0xfc00);
      auto file = accepted(openBytes(bytesOf(writer)));
      put16(data, bad * info.blockBytes + field.offset, 0x3c00);
      const gguf::TensorInfo &tensor = file->tensors()[0];
      uint64_t row = bad / blocksPerRow;
      std::string place = "tensor \"w\", row " + std::to_string(row) + ", block " +
                          std::to_string(bad % blocksPerRow) + ": its " + info.name;
      CHECK(has(llvm::toString(gguf::checkScales(*file, tensor)), place));
      CHECK(has(llvm::toString(gguf::checkScales(*file, tensor, row, 1)), place));
      CHECK(llvm::toString(gguf::checkScales(*file, tensor, row + 1)) == "");
      CHECK(llvm::toString(gguf::checkScales(*file, tensor, 0, row)) == "");
    }
  }
}

TEST_CASE("a weight that is not finite is found in every plain format") {
  struct Case {
    Format format;
    unsigned bytes;
    uint64_t infinite, largest;
  };
  for (Case c : {Case{Format::F32, 4, 0x7f800000, 0x7f7fffff}, Case{Format::F16, 2, 0x7c00, 0x7bff},
                 Case{Format::BF16, 2, 0x7f80, 0x7f7f},
                 Case{Format::F64, 8, uint64_t(0x7ff) << 52, (uint64_t(0x7ff) << 52) - 1}}) {
    std::vector<uint8_t> data(3000 * c.bytes);
    for (bool finite : {true, false}) {
      std::memcpy(&data[2047 * c.bytes], finite ? &c.largest : &c.infinite, c.bytes);
      gguf::Writer writer;
      writer.addTensor("w", c.format, {1000, 3}, data);
      auto file = accepted(openBytes(bytesOf(writer)));
      std::string message = llvm::toString(gguf::checkWeights(*file, file->tensors()[0]));
      CHECK(message.empty() == finite);
      CHECK((finite || has(message, "tensor \"w\", row 2, element 47: its")));
    }
  }
}
