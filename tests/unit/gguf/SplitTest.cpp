// Models in several files.
#include "tests/unit/gguf/TinyGguf.h"
#include <filesystem>

using namespace vetro;
using namespace vetro::test;
using gguf::ErrorKind;

/// One shard with a tensor "w<number>" of I8 values `number`.
static std::string shard(uint16_t number, uint16_t count, const std::string &tensor) {
  gguf::Writer writer;
  if (number == 0)
    writer.addString("general.architecture", "llama");
  writer.add<uint16_t>("split.no", number);
  writer.add<uint16_t>("split.count", count);
  writer.add<int32_t>("split.tensors.count", 3);
  std::vector<uint8_t> data(64, static_cast<uint8_t>(number));
  writer.addTensor(tensor, Format::I8, {64}, data);
  return bytesOf(writer);
}

namespace {
struct SplitModel {
  SplitModel() {
    for (uint16_t i = 0; i < 3; ++i)
      writeFile(path(i), shard(i, 3, "w" + std::to_string(i)));
  }
  std::string path(int number) const {
    return dir.file("m-0000" + std::to_string(number + 1) + "-of-00003.gguf");
  }
  TempDir dir;
};
} // namespace

TEST_CASE("a split model opens from its first shard") {
  SplitModel model;
  for (bool mmap : {true, false}) {
    gguf::OpenOptions options;
    options.mmap = mmap;
    auto file = accepted(gguf::File::open(model.path(0), options));
    REQUIRE(file->tensors().size() == 3);
    for (unsigned i = 0; i < 3; ++i) {
      const gguf::TensorInfo *tensor = file->findTensor("w" + std::to_string(i));
      REQUIRE(tensor);
      CHECK(tensor->shard == i);
      CHECK(tensor->index == i);
      CHECK(file->data(*tensor)[63] == i);
    }
    CHECK(file->fileBytes() == 3 * std::filesystem::file_size(model.path(1)) +
                                   std::filesystem::file_size(model.path(0)) -
                                   std::filesystem::file_size(model.path(1)));
  }
}

TEST_CASE("a missing shard, a later shard, a renamed shard") {
  SplitModel model;
  CHECK(has(refused(gguf::File::open(model.path(2)), ErrorKind::Data),
            "is shard 3 of 3; open \"m-00001-of-00003.gguf\" instead"));
  std::filesystem::remove(model.path(1));
  CHECK(has(refused(gguf::File::open(model.path(0)), ErrorKind::Data),
            "1 of 3 shards are missing, the first is \"m-00002-of-00003.gguf\""));
  std::filesystem::copy(model.path(0), model.dir.file("other.gguf"));
  CHECK(has(refused(gguf::File::open(model.dir.file("other.gguf")), ErrorKind::Data),
            "its name must end in \"-00001-of-00003.gguf\""));
}

TEST_CASE("shards that do not belong together") {
  SplitModel model;
  writeFile(model.path(1), shard(2, 3, "w1"));
  CHECK(has(refused(gguf::File::open(model.path(0)), ErrorKind::Data),
            "says it is shard 2 (from 0) of 3, expected 1 of 3"));
  writeFile(model.path(1), shard(1, 3, "w0"));
  CHECK(has(refused(gguf::File::open(model.path(0)), ErrorKind::TensorTable),
            "tensor \"w0\" is also in"));
  gguf::Writer empty;
  empty.add<uint16_t>("split.no", 1);
  empty.add<uint16_t>("split.count", 3);
  writeFile(model.path(1), bytesOf(empty));
  CHECK(has(refused(gguf::File::open(model.path(0)), ErrorKind::TensorTable),
            "the shards hold 2 tensors, key \"split.tensors.count\" says 3"));
  writeFile(model.path(1), "GGUF");
  CHECK(has(refused(gguf::File::open(model.path(0)), ErrorKind::Header), "m-00002-of-00003.gguf"));
}

TEST_CASE("a shard number past the count is refused") {
  CHECK(has(refused(shard(7, 3, "w"), ErrorKind::Data), "says it is shard 7 (from 0) of 3"));
}
