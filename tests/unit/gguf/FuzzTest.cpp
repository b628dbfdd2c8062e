// Ten thousand seeded edits of a small file: each opens or is refused with one line. Run under
// sanitizers as well.
#include "tests/unit/gguf/TinyGguf.h"
#include <fcntl.h>
#include <random>
#include <unistd.h>

using namespace vetro;
using namespace vetro::test;

/// One to four edits: a byte, a number at any place, a deletion, an insertion, a cut.
static std::string edited(std::string bytes, std::mt19937 &random) {
  static constexpr uint64_t numbers[] = {0,          1,          9,          UINT32_MAX,
                                         UINT64_MAX, 1ull << 63, 1ull << 32, 1ull << 40};
  for (unsigned edits = 1 + random() % 4; edits > 0 && bytes.size() > 8; --edits) {
    size_t at = random() % bytes.size();
    switch (random() % 5) {
    case 0:
      bytes[at] = static_cast<char>(random());
      break;
    case 1:
      at = random() % (bytes.size() - 7);
      std::memcpy(bytes.data() + at, &numbers[random() % std::size(numbers)], random() % 2 ? 8 : 4);
      break;
    case 2:
      bytes.erase(at, 1 + random() % 8);
      break;
    case 3:
      bytes.insert(at, 1 + random() % 8, static_cast<char>(random()));
      break;
    default:
      if (random() % 8 == 0)
        bytes.resize(at);
    }
  }
  return bytes;
}

/// Reads everything that an opened file offers.
static uint64_t readAll(const gguf::File &file) {
  uint64_t sum = 0;
  for (const gguf::KeyValue &entry : file.keys())
    sum += entry.value.toText(1000).size() +
           entry.value.asInts().value_or(std::vector<int64_t>{}).size();
  for (const gguf::TensorInfo &tensor : file.tensors()) {
    for (uint8_t byte : file.data(tensor))
      sum += byte;
    llvm::consumeError(gguf::checkScales(file, tensor));
    llvm::consumeError(gguf::checkWeights(file, tensor));
  }
  return sum;
}

TEST_CASE("10,000 edits open or are refused") {
  TempDir dir;
  std::string path = dir.file("edited.gguf");
  int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0);
  std::mt19937 random(20240229);
  const std::string original = tinyGguf();
  int opened = 0, refusals = 0;
  uint64_t sum = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string bytes = edited(original, random);
    REQUIRE(ftruncate(fd, static_cast<off_t>(bytes.size())) == 0);
    REQUIRE(pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    gguf::OpenOptions options;
    options.allowTrailing = i % 2;
    options.mmap = i % 4 < 2;
    auto file = gguf::File::open(path, options);
    if (file) {
      ++opened;
      sum += readAll(**file);
      continue;
    }
    ++refusals;
    std::string message = llvm::toString(file.takeError());
    if (message.find_first_of("\n\x1b") != std::string::npos || message.size() > 1000)
      FAIL("edit " << i << ": " << message);
  }
  close(fd);
  CHECK(opened > 500); // the edits reach the inside of valid files too
  CHECK(refusals > 5000);
  CHECK(sum > 0);
}
