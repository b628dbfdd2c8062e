// A file in smaller formats: keys, formats, values, refusals.
#include "frontends/gguf/Quantize.h"
#include "frontends/gguf/Encode.h"
#include "runtime/abi/Dequantize.h"
#include "tests/unit/gguf/TinyGguf.h"

using namespace vetro;
using namespace vetro::test;

static const gguf::FileType &fileType(llvm::StringRef name) {
  auto type = gguf::fileTypeByName(name);
  REQUIRE(bool(type));
  return **type;
}

TEST_CASE("a quantised file has the keys, and the values as its formats keep them") {
  std::vector<float> values(512);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(int(i * 37 % 101) - 50) / 64;
  llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(values.data()), 2048);
  gguf::Writer writer;
  writer.addString("general.architecture", "llama");
  writer.add<uint32_t>("general.file_type", 0);
  writer.add<uint32_t>("split.count", 1);
  writer.add<uint32_t>("llama.block_count", 1);
  writer.addTensor("blk.0.attn_q.weight", Format::F32, {256, 2}, bytes);
  writer.addTensor("blk.0.attn_norm.weight", Format::F32, {512}, bytes);
  auto file = accepted(openBytes(bytesOf(writer)));

  TempDir dir;
  double last = 0;
  auto progress = [&](double fraction) { last = fraction; };
  REQUIRE(llvm::toString(quantize(*file, fileType("Q4_K"), dir.file("q"), progress)) == "");
  CHECK(last == 1);
  auto made = accepted(gguf::File::open(dir.file("q")));
  CHECK(made->find("general.file_type")->asUInt() == 14u);
  CHECK(made->find("general.quantization_version")->asUInt() == 2u);
  CHECK(made->find("llama.block_count")->asUInt() == 1u);
  CHECK(made->find("split.count") == nullptr);
  const gguf::TensorInfo *matrix = made->findTensor("blk.0.attn_q.weight");
  REQUIRE(matrix->format == Format::Q4_K);
  std::vector<uint8_t> expected(rowBytes(Format::Q4_K, 256));
  gguf::encodeRow(Format::Q4_K, values.data() + 256, 256, expected.data());
  CHECK(made->data(*matrix).drop_front(expected.size()) == llvm::ArrayRef(expected));
  CHECK(made->data(*made->findTensor("blk.0.attn_norm.weight")) == bytes);
}

TEST_CASE("a tensor in a format that is not read is not quantised") {
  TempDir dir;
  auto file = accepted(openBytes(tinyGguf())); // its blk.0.exps.weight is MXFP4
  std::string message = llvm::toString(quantize(*file, fileType("Q4_K"), dir.file("q")));
  CHECK(has(message, "blk.0.exps.weight"));
  CHECK(has(message, "mxfp4"));
  CHECK(has(refused(gguf::File::open(dir.file("q")), gguf::ErrorKind::File), "No such file"));
}
