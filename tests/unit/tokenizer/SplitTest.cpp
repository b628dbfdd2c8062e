// The words that each pre-tokenizer cuts one varied text into. Each row was compared with llama.cpp
// over thousands of random texts when it was written; here one text pins it down.
#include "runtime/tokenizer/PreTokenizer.h"
#include "tests/unit/Catch.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

using namespace vetro;
using llvm::StringRef;

/// The words of `text`, with "|" between them.
static std::string words(StringRef name, StringRef text) {
  const PreTokenizer *pre = findPreTokenizer(name);
  REQUIRE(pre != nullptr);
  Chars chars(text);
  std::string out;
  size_t begin = 0;
  for (size_t end : splitWords(*pre, chars)) {
    out += begin > 0 ? "|" : "";
    out += text.slice(chars.offset[begin], chars.offset[end]);
    begin = end;
  }
  return out;
}

constexpr StringRef kText = "I'VE McDonald's 12345 a\u0301b,\n\n  x_y 3.14!!\r\n/ 我想 ٣٤a  \t";

// clang-format off
static const std::pair<StringRef, StringRef> kExpected[] = {
    {"default",
     "I|'|VE| McDonald|'|s| |123|45| a|\u0301|b|,|\n\n | x|_|y| |3|.|14|!!|\r\n|/| 我想| |٣٤|a|  \t"},
    {"gpt-2",
     "I|'|VE| McDonald|'s| 12345| a|\u0301|b|,|\n\n | x|_|y| 3|.|14|!!|\r|\n|/| 我想| ٣٤|a|  \t"},
    {"llama3",
     "I|'VE| McDonald|'s| |123|45| a|\u0301b|,\n\n| | x|_y| |3|.|14|!!\r\n|/| 我想| |٣٤|a|  \t"},
    {"qwen2",
     "I|'VE| McDonald|'s| |1|2|3|4|5| a|\u0301b|,\n\n| | x|_y| |3|.|1|4|!!\r\n|/| 我想| |٣|٤|a|  \t"},
    {"qwen35",
     "I|'VE| McDonald|'s| |1|2|3|4|5| a\u0301b|,\n\n| | x|_y| |3|.|1|4|!!\r\n|/| 我想| |٣|٤|a|  \t"},
    {"laguna",
     "I|'VE| McDonald|'s| |1|2|3|4|5| a|\u0301b|,|\n\n| | x|_y| |3|.|1|4|!!\r|\n|/| 我想| |٣|٤|a|  \t"},
    {"starcoder",
     "I|'|VE| McDonald|'s| |1|2|3|4|5| a|\u0301|b|,|\n\n | x|_|y| |3|.|1|4|!!|\r|\n|/| 我想| |٣|٤|a|  \t"},
    {"gpt-4o",
     "I'VE| Mc|Donald's| |123|45| a|\u0301b|,\n\n| | x|_y| |3|.|14|!!\r\n/| 我想| |٣٤|a|  \t"},
    {"granite-embed-multi-97m",
     "I'VE| Mc|Donald's| |123|45| a\u0301b|,\n\n| | x|_y| |3|.|14|!!\r\n/| 我想| |٣٤|a|  \t"},
    {"tekken",
     "I|'VE| Mc|Donald|'s| |1|2|3|4|5| a|\u0301b|,\n\n| | x|_y| |3|.|1|4|!!\r\n/| 我想| |٣|٤|a|  \t"},
    {"tiny_aya",
     "I'VE| McDonald's| |12|345| a\u0301b|,\n\n| | x|_y| |3|.|14|!!\r\n/| 我想| |٣٤|a|  \t"},
    {"deepseek-llm",
     "I|'|VE| McDonald|'|s| |12345| a|\u0301|b|,|\n|\n| | x|_|y| |3|.|14|!!|\r|\n|/| |我想| |٣٤|a|  \t"},
    {"deepseek-coder",
     "I|'|VE| McDonald|'|s| |1|2|3|4|5| a|\u0301|b|,|\n|\n| | x|_|y| |3|.|1|4|!!|\r|\n|/| |我想| |٣|٤|a|  \t"},
    {"deepseek-v3",
     "I|'VE| McDonald|'s| |123|45| a\u0301b|,\n\n| | x|_y| |3|.|14|!!\r\n|/| |我想| |٣٤|a|  \t"},
    {"falcon",
     "I|'|VE| McDonald|'|s| |123|45| a|\u0301|b|,|\n\n | x|_|y| 3|.|14|!!|\r\n|/| 我想| ٣٤|a|  \t"},
    {"bloom",
     "I'VE| McDonald's| 12345| a\u0301b|,\n\n | x_y| 3|.|14|!!\r\n|/| 我想| ٣٤a|  \t"},
    {"viking",
     "I'VE| McDonald's| |1|2|3|4|5| a\u0301b|,\n\n | x_y| |3|.|1|4|!!\r\n|/| 我想| |٣|٤|a|  \t"},
    {"bailingmoe",
     "I|'VE| McDonald|'s| |1|2|3|4|5| a|\u0301b|,\n\n| | x|_y| |3|.|1|4|!!\r\n|/| 我想| |٣|٤|a|  \t"},
    {"seed-coder",
     "I|'VE| McDonald|'s| |1|2|3|4|5| a|\u0301b|,|\n\n| | x|_y| |3|.|1|4|!!|\r\n|/| 我想| |٣|٤|a|  \t"},
    {"jais-2",
     "I|'VE| McDonald|'s| |123|45| a|\u0301b|,\n\n| | x|_y| |3|.|14|!!\r\n|/| 我想| |٣٤|a|  |\t"},
    {"youtu",
     "I'VE| McDonald's| |1|2|3|4|5| a\u0301b|,\n\n| | x|_y| |3|.|1|4|!!\r\n/| |我想| |٣|٤|a|  \t"},
    {"minicpm5",
     "I|'VE| McDonald|'s| |123|45| a|\u0301b|,\n\n| | x|_y| |3|.|14|!!\r\n|/| 我想| |٣٤|a|  \t"},
    {"exaone-moe",
     "I|'VE| McDonald|'s| |1|2|3|4|5| a\u0301b|,\n|\n| | x|_y| |3|.|1|4|!!\r|\n|/| 我想| |٣|٤|a|  \t"},
    {"kimi-k2",
     "I'VE| McDonald's| |123|45| a|\u0301b|,\n\n| | x|_y| |3|.|14|!!\r\n|/| |我想| |٣٤|a|  \t"},
    {"superbpe",
     "I'VE McDonald's |12|345| a\u0301b,\n\n  x_y |3|.|14|!!\r\n/ 我想 |٣٤|a  \t"},
    {"afmoe",
     "I|'VE| McDonald|'s| |12|345| a\u0301b|,\n\n| | x|_y| |3|.|14|!!\r\n|/| |我想| |٣٤|a|  \t"},
    {"chameleon",
     "I|'|VE| McDonald|'|s| |1|2|3|4|5| a|\u0301|b|,|\n|\n|  |x|_|y| |3|.|1|4|!|!|\r|\n|/| 我想| |٣|٤|a|  |\t"},
    {"gemma4",
     "I'VE McDonald's 12345 a\u0301b,|\n\n|  x_y 3.14!!\r|\n|/ 我想 ٣٤a  \t"},
    {"sarvam-moe",
     "I'VE McDonald's 12345 a\u0301b,|\n\n|  x_y 3.14!!\r|\n|/ 我想 ٣٤a  \t"},
};
// clang-format on

TEST_CASE("each pre-tokenizer cuts its words") {
  for (auto [name, expected] : kExpected) {
    INFO(name.str());
    CHECK(words(name, kText) == expected.str());
  }
}

TEST_CASE("each known name has a row, and no other") {
  std::string known = knownPreTokenizers();
  llvm::SmallVector<StringRef> names;
  StringRef(known).split(names, ", ");
  CHECK(names.size() >= 85);
  for (StringRef name : names)
    CHECK(findPreTokenizer(name) != nullptr);
  CHECK(findPreTokenizer("gpt-3") == nullptr);
  CHECK(findPreTokenizer("") == nullptr);
  CHECK(findPreTokenizer("gpt-2 phi-2") == nullptr);
}

TEST_CASE("an empty text has no words") { CHECK(words("llama3", "") == ""); }

TEST_CASE("letters give back to the case-aware pattern what it needs") {
  CHECK(words("gpt-4o", "ÀÉB éABC AÉA ABc") == "ÀÉ|B| é|ABC| AÉ|A| ABc");
}

TEST_CASE("long white space comes in blocks") {
  CHECK(words("jais-2", std::string(7, ' ') + "x") == "    |  | x");
  CHECK(words("jais-2", std::string(600, ' ')) ==
        std::string(512, ' ') + "|" + std::string(64, ' ') + "|" + std::string(16, ' ') + "|" +
            std::string(8, ' '));
}

TEST_CASE("image codes stay whole; sentinels are cut again by the stages that follow") {
  CHECK(words("chameleon", "aIMGIMGABZIMGIMGABCDEZ") == "a|IMGIMGABZ|IMGIMGABCDEZ");
  CHECK(words("chameleon", "IMGIMGZ x") == "IMGIMGZ| x");
  CHECK(words("chameleon", " <sentinel:12> x") == " |<|sentinel|:|1|2|>| x");
}

TEST_CASE("bytes that are no UTF-8 are cut like symbols") {
  CHECK(words("gpt-2", "ab\xFF\xC3 cd\xE4\xBD") == "ab|\xFF\xC3| cd|\xE4\xBD");
}
