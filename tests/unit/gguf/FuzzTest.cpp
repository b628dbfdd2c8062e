// Ten thousand seeded edits of a small file: each opens or is refused with one line. Run under
// sanitizers as well.
#include "runtime/engine/Vocabulary.h"
#include "tests/unit/TestData.h"
#include "tests/unit/gguf/Limits.h"
#include "tests/unit/gguf/TinyGguf.h"
#include <fcntl.h>
#include <filesystem>
#include <fstream>
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

/// A refusal is one line, and not a long one.
static void checkMessage(llvm::Error error, int edit) {
  std::string message = llvm::toString(std::move(error));
  if (message.find_first_of("\n\x1b") != std::string::npos || message.size() > 1000)
    FAIL("edit " << edit << ": " << message);
}

static void checkLimits(const FileLimits &limits, int edit) {
  if (std::string exceeded = limits.exceeded(); !exceeded.empty())
    FAIL("edit " << edit << " " << exceeded);
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
    FileLimits limits(bytes.size());
    auto file = gguf::File::open(path, options);
    if (file)
      sum += readAll(**file);
    checkLimits(limits, i);
    opened += bool(file);
    refusals += !file;
    if (!file)
      checkMessage(file.takeError(), i);
  }
  close(fd);
  CHECK(opened > 500); // the edits reach the inside of valid files too
  CHECK(refusals > 5000);
  CHECK(sum > 0);
}

namespace {

/// The head of a real model in a file of the model's size whose data is a hole, and the places of
/// its records: edits at random places would nearly always hit the text of a token.
struct SparseModel {
  explicit SparseModel(const std::string &model) : path(dir.file("sparse.gguf")) {
    auto file = accepted(gguf::File::open(model));
    bytes.resize(headBytes(*file));
    std::ifstream(model, std::ios::binary)
        .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    for (const gguf::KeyValue &entry : file->keys())
      records.push_back(entry.offset);
    for (const gguf::TensorInfo &tensor : file->tensors())
      records.push_back(tensorAt(bytes, tensor.name));
    writeFile(path, bytes);
    fileBytes = file->fileBytes();
    resize(fileBytes);
  }
  /// Where the data begins: the file holds nothing after the tensors.
  static size_t headBytes(const gguf::File &file) {
    uint64_t end = 0;
    for (const gguf::TensorInfo &tensor : file.tensors())
      end = std::max(end, tensor.offset + tensor.sizeBytes);
    return file.fileBytes() - (end + 31) / 32 * 32;
  }
  void resize(uint64_t size) const { std::filesystem::resize_file(path, size); }
  void write(int fd, size_t at, llvm::StringRef text) const {
    REQUIRE(pwrite(fd, text.data(), text.size(), static_cast<off_t>(at)) ==
            static_cast<ssize_t>(text.size()));
  }

  TempDir dir;
  std::string path, bytes;
  std::vector<size_t> records;
  uint64_t fileBytes = 0;
};

} // namespace

/// Makes the tokenizer of a file that opened, or sees it refused with one line, and uses it.
static void readVocabulary(const gguf::File &file, int edit) {
  auto tokenizer = loadTokenizer(file);
  if (!tokenizer)
    return checkMessage(tokenizer.takeError(), edit);
  auto ids = (*tokenizer)->encode("Once upon a time, 42 \xF0\x9F\x8C\x8D\xFF  x", true, true);
  for (int32_t id : ids)
    if (id < 0 || id >= (*tokenizer)->nTokens())
      FAIL("edit " << edit << ": id " << id);
}

/// Opens the model `edits` times with one to four changes near its records, or cut.
static void editHead(const std::string &name, int edits) {
  if (test::model(name).empty())
    return skip("models/" + name + " is missing; get it with ./bootstrap models");
  SparseModel model(test::model(name));
  int fd = open(model.path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(fd >= 0);
  std::mt19937_64 random(7);
  int refusals = 0;
  for (int i = 0; i < edits; ++i) {
    std::vector<size_t> places;
    for (unsigned n = 1 + random() % 4; n > 0; --n) {
      size_t at = std::min(model.records[random() % model.records.size()] + random() % 64,
                           model.bytes.size() - 8);
      uint64_t number = random() >> random() % 64;
      model.write(fd, at, llvm::StringRef(reinterpret_cast<char *>(&number), 1 + random() % 8));
      places.push_back(at);
    }
    bool cut = random() % 8 == 0;
    if (cut)
      model.resize(random() % (random() % 2 ? model.bytes.size() : model.fileBytes));
    FileLimits limits(model.fileBytes);
    auto file = gguf::File::open(model.path);
    if (file && i % 16 == 0)
      readVocabulary(**file, i);
    checkLimits(limits, i);
    refusals += !file;
    if (!file)
      checkMessage(file.takeError(), i);
    for (size_t at : places)
      model.write(fd, at, llvm::StringRef(model.bytes).substr(at, 8));
    if (cut) {
      model.write(fd, 0, model.bytes);
      model.resize(model.fileBytes);
    }
  }
  close(fd);
  CHECK(refusals > edits / 2);
  accepted(gguf::File::open(model.path)); // all edits were undone
}

TEST_CASE("edits beyond the limit of memory are noticed") {
  if (!countsMemory)
    return skip("memory is counted under the address sanitizer: ctest -R sanitized_edits");
  FileLimits limits(1000);
  std::vector<std::string> parts(4, std::string(40 << 20, 'x'));
  CHECK(limits.exceeded() == "");
  parts.resize(7, parts[0]);
  CHECK(limits.exceeded().find("used ") == 0);
  parts.clear();
  CHECK(FileLimits(1000).exceeded() == "");
}

TEST_CASE("500 edits of real heads open or are refused") {
  int64_t before = peakBytes();
  editHead("SmolLM2-135M-Instruct.Q4_1.gguf", 400);
  editHead("gemma-3-270m.Q4_K_M.gguf", 100);
  CHECK(peakBytes() - before < (int64_t(256) << 20)); // the files themselves are not read
}

TEST_CASE("12,000 edits of real heads open or are refused", "[.full]") {
  editHead("SmolLM2-135M-Instruct.Q4_1.gguf", 10000);
  editHead("gemma-3-270m.Q4_K_M.gguf", 2000);
}
