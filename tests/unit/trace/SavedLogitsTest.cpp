// Logits in llama.cpp's file: what is written comes back to half a step; what lies is refused.
#include "runtime/trace/SavedLogits.h"
#include "tests/unit/TestData.h"
#include "tests/unit/gguf/TinyGguf.h"
#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>

using namespace vetro;
using namespace vetro::test;

namespace {
using Floats = std::vector<float>;

SavedLogitsHeader header() { return {5, 3, 2, {0, 1, 2, 0, 1, 2, 2, 1, 1, 0}}; }

/// Two chunks of five tokens, two rows of three logits each.
std::string twoChunks() {
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  writeSavedHeader(out, header());
  for (const Floats &row : {Floats{2, 1, -30}, Floats{0, 0, 0}, Floats{-1, 7, 3}, Floats{5, 4, 3}})
    writeSavedRow(out, row);
  return bytes;
}

llvm::Expected<SavedLogits> openText(const std::string &bytes) {
  TempDir dir;
  writeFile(dir.file("t"), bytes);
  auto file = Bytes::ofFile(dir.file("t"));
  if (!file)
    return file.takeError();
  return SavedLogits::open(std::move(*file));
}

std::string message(const std::string &bytes) {
  auto opened = openText(bytes);
  return opened ? "accepted" : llvm::toString(opened.takeError());
}

/// The bytes with a number of type T put at `at`.
template <typename T> std::string with(std::string bytes, size_t at, T number) {
  std::memcpy(&bytes[at], &number, sizeof(T));
  return bytes;
}

constexpr size_t rowsAt = 20 + 10 * 4, perRow = 8 + 2 * 4;
} // namespace

TEST_CASE("saved logits have llama.cpp's layout") {
  std::string bytes = twoChunks();
  REQUIRE(bytes.size() == rowsAt + 4 * perRow);
  CHECK(bytes.substr(0, 20) == std::string("_logits_\5\0\0\0\3\0\0\0\2\0\0\0", 20));
  auto number = [&](size_t at) {
    float value;
    std::memcpy(&value, &bytes[at], 4);
    return value;
  };
  // ln(e^2 + e + e^-30) = 2.313262; 16 / 65535 a step; 15 steps of 16 are code 61439.
  CHECK(number(rowsAt) == Approx(16.0 / 65535));
  CHECK(number(rowsAt + 4) == Approx(2 - 16 - 2.313262));
  CHECK(bytes.substr(rowsAt + 8, 8) == std::string("\xff\xff\xff\xef\0\0\0\0", 8));
  CHECK(number(rowsAt + perRow) == 0); // all equal
}

TEST_CASE("saved logits come back as log probabilities") {
  SavedLogits saved = llvm::cantFail(openText(twoChunks()));
  CHECK(saved.header().nCtx == 5);
  CHECK(saved.header().tokens == header().tokens);
  REQUIRE(saved.rows() == 4);
  const Floats wanted[] = {{-0.313262f, -1.313262f, -16.313262f},
                           {-1.098612f, -1.098612f, -1.098612f},
                           {-8.018479f, -0.018479f, -4.018479f},
                           {-0.407606f, -1.407606f, -2.407606f}};
  Floats row(3);
  for (size_t r = 0; r < 4; ++r) {
    llvm::cantFail(saved.read(r, row));
    for (size_t i = 0; i < 3; ++i)
      CHECK(row[i] == Approx(wanted[r][i]).margin(8.0 / 65535)); // half of the widest step
  }
}

TEST_CASE("each lie of a file of saved logits gives its own line") {
  std::string whole = twoChunks();
  struct Case {
    std::string bytes, found;
  };
  const Case cases[] = {
      {"", "is 0 bytes"},
      {whole.substr(0, 19), "is 19 bytes"},
      {"_Logits_" + whole.substr(8), "does not begin with _logits_"},
      {whole.substr(0, 40), "need 124 bytes, it has 40: is it whole?"},
      {whole.substr(0, 123), "need 124 bytes, it has 123: is it whole?"},
      {whole + "x", "1 bytes after its last row"},
      {with<uint32_t>(whole, 8, 2), "chunks of 2 tokens"},
      {with<uint32_t>(whole, 8, UINT32_MAX), "is it whole?"},
      {with<int32_t>(whole, 12, 0), "vocabulary of 0"},
      {with<int32_t>(whole, 12, -1), "vocabulary of -1"},
      {with<int32_t>(whole, 12, INT32_MAX), "is it whole?"},
      {with<int32_t>(whole, 16, -1), "tells of -1 chunks"},
      {with<int32_t>(with<uint32_t>(with<int32_t>(whole, 16, INT32_MAX), 8, UINT32_MAX), 12,
                     INT32_MAX),
       "need 18446744073709551615 bytes"},
      {with<int32_t>(whole, 24, 3), "its token 1 is 3, expected an id of its vocabulary: 0 to 2"},
      {with<int32_t>(whole, 28, -1), "its token 2 is -1"}};
  for (const Case &c : cases) {
    std::string text = message(c.bytes);
    INFO(text);
    CHECK(has(text, c.found));
    CHECK(text.find('\n') == std::string::npos);
  }
}

TEST_CASE("a row of no logarithms is refused when it is read") {
  Floats row(3);
  for (float scale : {-1.0f, NAN, INFINITY, 1.0f}) {
    SavedLogits saved = llvm::cantFail(openText(with(twoChunks(), rowsAt + perRow, scale)));
    CHECK_FALSE(has(llvm::toString(saved.read(0, row)), "row"));
    CHECK(has(llvm::toString(saved.read(1, row)), "its row 1 has the scale"));
  }
  SavedLogits saved = llvm::cantFail(openText(with(twoChunks(), rowsAt + 4, -INFINITY)));
  CHECK(has(llvm::toString(saved.read(0, row)), "its row 0 has the scale"));
}

TEST_CASE("a file of saved logits that is cut while it is read") {
  TempDir dir;
  writeFile(dir.file("t"), twoChunks());
  SavedLogits saved =
      llvm::cantFail(SavedLogits::open(llvm::cantFail(Bytes::ofFile(dir.file("t")))));
  writeFile(dir.file("t"), twoChunks().substr(0, rowsAt + 10));
  Floats row(3);
  CHECK(has(llvm::toString(saved.read(0, row)), "it was cut while it was read"));
}

TEST_CASE("10,000 edited files of saved logits open or are refused with one line") {
  std::mt19937 random(3);
  Floats row;
  int accepted = 0;
  TempDir dir;
  for (int i = 0; i < 10000; ++i) {
    std::string bytes = twoChunks();
    for (unsigned n = 1 + random() % 2; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0)
      bytes.resize(random() % bytes.size());
    std::filesystem::remove(dir.file("t")); // cutting a file waits for the disk
    writeFile(dir.file("t"), bytes);
    auto saved = SavedLogits::open(llvm::cantFail(Bytes::ofFile(dir.file("t"))));
    if (!saved) {
      std::string text = llvm::toString(saved.takeError());
      if (text.find_first_of("\n\x1b") != std::string::npos || text.size() > 600)
        FAIL("edit " << i << ": " << text);
      continue;
    }
    ++accepted;
    row.resize(saved->header().nVocab);
    for (uint64_t r = 0; r < saved->rows(); ++r)
      llvm::consumeError(saved->read(r, row));
  }
  CHECK(accepted > 100);
}
