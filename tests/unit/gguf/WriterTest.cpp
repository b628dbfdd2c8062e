// The writer: what it writes is read back equal, and what cannot be a file is refused.
#include "tests/unit/TestData.h"
#include "tests/unit/gguf/TinyGguf.h"
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace vetro;
using namespace vetro::test;

/// Writes a file anew from what was read.
static std::string rewritten(const gguf::File &file, uint32_t alignment) {
  gguf::Writer writer(alignment);
  for (const gguf::KeyValue &entry : file.keys())
    if (entry.key != "general.alignment")
      writer.addValue(entry.key, entry.value);
  for (const gguf::TensorInfo &t : file.tensors())
    writer.addTensor(t.name, t.ggufType, llvm::ArrayRef(t.ne).take_front(t.nDims), file.data(t));
  return bytesOf(writer);
}

TEST_CASE("reading and writing give the same bytes") {
  for (uint32_t alignment : {1u, 16u, 32u, 4096u}) {
    std::string bytes = tinyGguf(alignment);
    CHECK(rewritten(*accepted(openBytes(bytes)), alignment) == bytes);
  }
}

TEST_CASE("a model of another writer keeps its content") {
  if (dataDir().empty())
    return skip("no test data; set VETRO_TEST_DATA");
  std::string path = dataDir() + "/stories260k/stories260K.gguf";
  auto original = accepted(gguf::File::open(path));
  auto copy = accepted(openBytes(rewritten(*original, 32)));
  REQUIRE(copy->keys().size() == original->keys().size());
  for (size_t i = 0; i < copy->keys().size(); ++i) {
    CHECK(copy->keys()[i].key == original->keys()[i].key);
    CHECK(copy->keys()[i].value.toText(1000) == original->keys()[i].value.toText(1000));
    CHECK(copy->keys()[i].value.typeName() == original->keys()[i].value.typeName());
  }
  REQUIRE(copy->tensors().size() == original->tensors().size());
  for (const gguf::TensorInfo &tensor : copy->tensors())
    CHECK(copy->data(tensor) == original->data(*original->findTensor(tensor.name)));
}

TEST_CASE("tensors can be streamed to a file") {
  TempDir dir;
  gguf::Writer writer;
  writer.addTensor("w", Format::F32, {8}, [](llvm::raw_ostream &os) {
    for (float value = 0; value < 8; ++value)
      os.write(reinterpret_cast<const char *>(&value), sizeof(value));
    return llvm::Error::success();
  });
  REQUIRE(llvm::toString(writer.write(dir.file("m.gguf"))) == "");
  auto file = accepted(gguf::File::open(dir.file("m.gguf")));
  float values[8];
  std::memcpy(values, file->data(file->tensors()[0]).data(), sizeof(values));
  CHECK(values[7] == 7.0f);
}

TEST_CASE("a failed write leaves the old file and nothing beside it") {
  TempDir dir;
  std::string path = dir.file("m.gguf");
  writeFile(path, "old");
  gguf::Writer writer;
  writer.addTensor("w", Format::F32, {8}, [](llvm::raw_ostream &os) {
    os << "too short";
    return llvm::Error::success();
  });
  CHECK(has(llvm::toString(writer.write(path)), "\"w\" got 9 bytes, its type and shape need 32"));
  std::ifstream in(path);
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == "old");
  auto files = std::filesystem::directory_iterator(dir.file(""));
  CHECK(std::distance(begin(files), end(files)) == 1);
  gguf::Writer empty;
  CHECK(has(llvm::toString(empty.write(dir.file("no/such/folder.gguf"))), "No such file"));
}

TEST_CASE("what cannot be a file is refused") {
  static const uint8_t bytes[64] = {};
  auto messageOf = [](auto &&fill) {
    gguf::Writer writer;
    fill(writer);
    std::string out;
    llvm::raw_string_ostream os(out);
    return llvm::toString(writer.write(os));
  };
  using gguf::Writer;
  llvm::ArrayRef<uint8_t> data(bytes);
  CHECK(messageOf([](Writer &w) { w.add<bool>("a", true); }) == "");
  CHECK(has(messageOf([](Writer &w) {
              w.add<bool>("a", true);
              w.add<bool>("a", true);
            }),
            "key \"a\" is empty or was added twice"));
  CHECK(has(messageOf([&](Writer &w) {
              w.addTensor("a", Format::I8, {1}, data.take_front(1));
              w.addTensor("a", Format::I8, {1}, data.take_front(1));
            }),
            "tensor \"a\" has no name"));
  auto tensor = [&](unsigned type, std::vector<uint64_t> ne) {
    return messageOf([&](Writer &w) { w.addTensor("t", type, ne, data); });
  };
  CHECK(tensor(0, {16}) == "");
  CHECK(has(tensor(4, {16}), "type 4, which is unknown"));
  CHECK(has(tensor(8, {16}), "whole blocks of 32"));
  CHECK(has(tensor(0, {}), "0 dimensions"));
  CHECK(has(tensor(0, {1, 1, 1, 1, 1}), "5 dimensions"));
  CHECK(has(tensor(0, {0}), "dimension of 0"));
  CHECK(has(tensor(0, {uint64_t(1) << 32, uint64_t(1) << 32}), "less than 2^60"));
  gguf::Writer misaligned(48);
  std::string out;
  llvm::raw_string_ostream os(out);
  CHECK(has(llvm::toString(misaligned.write(os)), "alignment is 48"));
}
