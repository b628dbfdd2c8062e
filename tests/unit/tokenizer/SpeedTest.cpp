// Time grows in proportion to the text, whatever the text: runs of one character used to make
// tokenizers quadratic or overflow their stack. CTest runs this with 256 KiB of stack.
#include "tests/unit/Catch.h"
#include "tests/unit/Growth.h"
#include "tests/unit/tokenizer/VocabFile.h"
#include <cstdio>
#include <ctime>

using namespace vetro;
using namespace vetro::test;

/// `n` times one character.
static std::string runOf(llvm::StringRef character, size_t n) {
  std::string text;
  text.reserve(n * character.size());
  for (size_t i = 0; i < n; ++i)
    text += character;
  return text;
}

/// Seconds of CPU time to encode `text`.
static double seconds(const Tokenizer &tokenizer, const std::string &text) {
  std::clock_t start = std::clock();
  std::vector<int32_t> ids = tokenizer.encode(text, false, false);
  double time = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  REQUIRE(tokenizer.decode(ids) == text);
  return time;
}

/// Encodes `n` and 2`n` of each of eight characters with each vocabulary.
static void checkGrowth(size_t n, double most) {
  struct {
    const char *name, *character;
  } const kRuns[] = {{"letter", "A"},         {"space", " "},      {"digit", "7"},
                     {"mark", "!"},           {"Han", "\u4e2d"},   {"newline", "\n"},
                     {"emoji", "\U0001F600"}, {"accent", "\u0301"}};
  for (const std::string &name : vocabNames()) {
    if (vocabPath(name).empty())
      return;
    VocabFile file(vocabPath(name));
    auto tokenizer = load(file.data);
    for (const auto &run : kRuns) {
      auto time = [&](size_t size) { return seconds(*tokenizer, runOf(run.character, size)); };
      auto [once, twice] = leastTimes(time, n, most);
      std::printf("%-15s %zu x %-8s %7.1f ms, twice as many %7.1f ms, ratio %.2f\n", name.c_str(),
                  n, run.name, once * 1e3, twice * 1e3, twice / once);
      INFO(name << ", " << n << " x " << run.name);
      CHECK(twice <= most * once);
    }
  }
}

// Here the second text leaves a cache level that the first one fits in, hence 3; quadratic is 4.
TEST_CASE("time is linear in runs of one character", "[speed]") { checkGrowth(20'000, 3.0); }

// So it does here, now the last level (2.37 was measured): the middle of linear and quadratic,
// n^1.5.
TEST_CASE("time is linear in a million of one character", "[.full]") {
  checkGrowth(1'000'000, 2.8);
}
