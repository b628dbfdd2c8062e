// The tokenizer's surface: special tokens, the way back, streaming, the record of an encoding.
#include "runtime/tokenizer/StreamDecoder.h"
#include "runtime/tokenizer/Unicode.h"
#include "tests/unit/Catch.h"
#include "tests/unit/TestData.h"
#include "tests/unit/tokenizer/VocabFile.h"
#include <numeric>

using namespace vetro;
using namespace vetro::test;
using llvm::StringRef;
using Ids = std::vector<int32_t>;

/// Bytes 0 to 255, then low (256) ... with the merges "l o", "lo w", "e r".
static VocabData lower() {
  VocabData data = tinyBpe({"lo", "low", "er"}, {"l o", "lo w", "e r"});
  data.types.assign(data.tokens.size(), 1);
  return data;
}

/// Adds a token of the given type; its id.
static int32_t add(VocabData &data, StringRef text, int32_t type) {
  data.tokens.push_back(text);
  data.types.push_back(type);
  return static_cast<int32_t>(data.tokens.size()) - 1;
}

TEST_CASE("merges go by rank, then from the left") {
  auto tokenizer = load(lower());
  CHECK(tokenizer->encode("lower", false, false) == Ids{257, 258});
  VocabData data = tinyBpe({"aa"}, {"a a"});
  CHECK(load(data)->encode("aaa", false, false) == Ids{256, 'a'});
}

TEST_CASE("the record of an encoding") {
  VocabData data = lower();
  int32_t eot = add(data, "<|eot_id|>", 3);
  auto tokenizer = load(data);
  Explain explain;
  Ids ids = tokenizer->encodeExplained("lower<|eot_id|> lo", false, true, explain);
  CHECK(ids == tokenizer->encode("lower<|eot_id|> lo", false, true));
  REQUIRE(explain.fragments.size() == 3);
  CHECK(explain.fragments[1].special == eot);
  CHECK(explain.fragments[1].begin == 5);
  CHECK(explain.fragments[2].end == 18);
  REQUIRE(explain.words.size() == 2);
  CHECK(explain.words[0].ids == Ids{257, 258});
  CHECK(explain.words[1].begin == 15);
  CHECK(explain.words[1].firstMerge == 3);
  CHECK(explain.words[1].nMerges == 1);
  std::string merges;
  for (const Explain::Merge &m : explain.merges)
    merges += m.left + "+" + m.right + "=" + m.result + "@" + std::to_string(m.rank) + " ";
  CHECK(merges == "l+o=lo@0 lo+w=low@1 e+r=er@2 l+o=lo@0 ");
}

TEST_CASE("the record of a SentencePiece encoding shows scores") {
  VocabData data;
  data.model = "llama";
  data.tokens = {"<unk>", "<s>", "</s>", "a", "b", "▁", "ab", "▁a"};
  data.scores = {0, 0, 0, -1, -2, -3, -4, -3.5};
  data.types = {2, 3, 3, 1, 1, 1, 1, 1};
  Explain explain;
  CHECK(load(data)->encodeExplained("ab", true, false, explain) == Ids{1, 7, 4});
  REQUIRE(explain.merges.size() == 1);
  CHECK(explain.merges[0].left == "▁");
  CHECK(explain.merges[0].byScore);
  CHECK(explain.merges[0].score == -3.5f);
  REQUIRE(explain.words.size() == 1);
  CHECK(explain.words[0].end == 2);
}

TEST_CASE("special tokens: parsed only when asked, user-defined ones always") {
  VocabData data = lower();
  int32_t control = add(data, "<c>", 3), user = add(data, "<user>", 4);
  auto tokenizer = load(data);
  CHECK(tokenizer->encode("<c><user>", false, true) == Ids{control, user});
  CHECK(tokenizer->encode("<c><user>", false, false) == Ids{'<', 'c', '>', user});
  CHECK(tokenizer->decode({control, user}) == "<user>");
  CHECK(tokenizer->decode({control, user}, true) == "<c><user>");
}

TEST_CASE("of overlapping special tokens the longest wins, then the leftmost") {
  SpecialTokens set({{1, "ab", true, false, false},
                     {2, "bcd", true, false, false},
                     {3, "b", true, false, false},
                     {4, "aa", false, false, false}});
  auto found = [&](StringRef text, bool all) {
    std::string out;
    for (const SpecialTokens::Fragment &f : set.partition(text, all))
      out += std::to_string(f.id) + ":" + text.slice(f.begin, f.end).str() + " ";
    return out;
  };
  CHECK(found("abcd", true) == "-1:a 2:bcd ");
  CHECK(found("abab", true) == "1:ab 1:ab ");
  CHECK(found("aaab", true) == "4:aa 1:ab ");
  CHECK(found("aaaab", true) == "4:aa -1:a 1:ab "); // of equal length: the lower id first
  CHECK(found("aab", false) == "-1:a 1:ab ");
  CHECK(found("", true) == "");
}

TEST_CASE("special tokens can eat white space") {
  SpecialTokens set({{1, "<r>", true, false, true}, {2, "<l>", true, true, false}});
  auto found = set.partition(" a <l> b <r> \n c", true);
  REQUIRE(found.size() == 5);
  CHECK(found[0].end == 2);   // " a"
  CHECK(found[2].begin == 6); // " b "
  CHECK(found[2].end == 9);
  CHECK(found[4].begin == 15); // "c"
  CHECK(set.partition("<r>  ", true).size() == 1);
}

TEST_CASE("Phi-3's specials eat the white space after them, but for three") {
  if (vocabPath("phi-3").empty())
    return;
  VocabFile file(vocabPath("phi-3"));
  auto tokenizer = load(file.data);
  int32_t end = 32007;
  REQUIRE(tokenizer->token(end).str() == "<|end|>");
  CHECK(tokenizer->encode("<|end|>\n\n", false, true) == Ids{end});
  CHECK(tokenizer->encode("<s> ", false, true).size() == 2);
  CHECK(tokenizer->isEog(end));
  CHECK(tokenizer->isEog(32000)); // <|endoftext|>
  CHECK_FALSE(tokenizer->isEog(1));
}

TEST_CASE("BOS and EOS are added as the vocabulary says") {
  VocabData data = lower();
  data.bos = 1;
  data.eos = 2;
  CHECK(load(data)->encode("", true, false).empty());
  data.addBos = true;
  data.addEos = true;
  CHECK(load(data)->encode("low", true, false) == Ids{1, 257, 2});
  CHECK(load(data)->encode("low", false, false) == Ids{257});
  data.addBos.reset();
  data.pre = "llama-bpe";
  CHECK(load(data)->encode("low", true, false) == Ids{1, 257, 2});
}

TEST_CASE("ignore_merges takes a whole word that is a token") {
  VocabData data = lower();
  int32_t whole = add(data, "lower", 1);
  CHECK(load(data)->encode("lower", false, false) == Ids{257, 258});
  data.pre = "llama-bpe";
  data.addBos = false;
  CHECK(load(data)->encode("lower", false, false) == Ids{whole});
}

TEST_CASE("every byte comes back") {
  std::string all(256, '\0');
  std::iota(all.begin(), all.end(), '\0');
  auto bytes = load(lower());
  CHECK(bytes->decode(bytes->encode(all, false, false)) == all);
  for (const char *name : {"llama-spm", "qwen2", "gpt-2"}) {
    if (vocabPath(name).empty())
      return;
    VocabFile file(vocabPath(name));
    auto tokenizer = load(file.data);
    CHECK(tokenizer->decode(tokenizer->encode(all, true, false)) == all);
    CHECK(tokenizer->decode(tokenizer->encode("  two", true, false)) == "  two");
  }
}

TEST_CASE("a character that is cut short leaves the next one alone") {
  if (vocabPath("llama-spm").empty())
    return skip("no test data; set VETRO_TEST_DATA");
  VocabFile file(vocabPath("llama-spm"));
  auto tokenizer = load(file.data);
  for (int byte = 0x80; byte < 0x100; ++byte)
    for (const char *next : {" x", "  x", "\u00e9", "\u20ac", "\xE2\x82 x"}) {
      std::string text = "a" + std::string(1, static_cast<char>(byte)) + next;
      INFO("byte " << byte << " before '" << next << "'");
      CHECK(tokenizer->decode(tokenizer->encode(text, true, false)) == text);
    }
  CHECK(utf8Length("\xF0 ") == 1);
  CHECK(utf8Length("\xE2\x82\xAC\x80") == 3);
  CHECK(utf8Length("\xC3\xC3\xA9") == 1);
}

TEST_CASE("ids outside the vocabulary print nothing") {
  auto tokenizer = load(lower());
  CHECK(tokenizer->decode({-1, 1 << 20}) == "");
  CHECK(tokenizer->piece(-1) == "");
  StreamDecoder stream(*tokenizer);
  CHECK(stream.push(1 << 20) == "");
}

TEST_CASE("half characters are held back while streaming") {
  auto tokenizer = load(lower());
  StreamDecoder stream(*tokenizer);
  Ids ids = tokenizer->encode("a\U0001F600\xE4\xBD", false, false);
  REQUIRE(ids.size() == 7);
  std::string steps;
  for (int32_t id : ids)
    steps += stream.push(id) + "|";
  CHECK(steps == "a||||\U0001F600|||");
  CHECK(stream.flush() == "\xE4\xBD");
  CHECK(stream.flush() == "");
  CHECK(stream.push(ids[4]) == "\x80"); // a continuation byte alone can't become a character
}

TEST_CASE("invalid UTF-8 is replaced unit by unit") {
  CHECK(replaceInvalidUtf8("ok \u00e9") == "ok \u00e9");
  CHECK(replaceInvalidUtf8("a\xF0\x9F\x98z") == "a\uFFFDz");
  CHECK(replaceInvalidUtf8("\xC0\x80") == "\uFFFD\uFFFD");
  CHECK(replaceInvalidUtf8("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");
  CHECK(incompleteTail("a\xF0\x9F\x98") == 3);
  CHECK(incompleteTail("a\xF0\x9F\x98\x80") == 0);
  CHECK(incompleteTail("\xE0\x80") == 0); // overlong: no continuation can help
  CHECK(incompleteTail("\xC3") == 1);
}

TEST_CASE("Unicode classes") {
  CHECK(charClass('~') == kSymbol);
  CHECK(charClass('_') == kPunct);
  CHECK(charClass(0x85) == kSpace);
  CHECK(charClass(0x3000) == kSpace);
  CHECK(charClass(0x301) == kMark);
  CHECK(charClass(0x2160) == kNumber);
  CHECK(charClass(0x2EBF0) == kLetter); // of Unicode 15.1
  CHECK(charClass(0x200B) == 0);
  CHECK(charClass(0x10FFFF) == 0);
}

TEST_CASE("end of generation goes by well-known names, with their exceptions") {
  VocabData data = lower();
  int32_t end = add(data, "<|end|>", 3), call = add(data, "<|call|>", 3);
  CHECK(load(data)->isEog(end));
  int32_t ret = add(data, "<|return|>", 3), channel = add(data, "<|channel|>", 3);
  auto tokenizer = load(data);
  CHECK(tokenizer->eogIds() == llvm::ArrayRef<int32_t>({call, ret}));
  CHECK(tokenizer->decode({end, channel, ret}) == "<|end|><|channel|>");
}

TEST_CASE("a well-known name of the wrong type is treated as control, with a warning") {
  VocabData data = lower();
  int32_t end = add(data, "<|im_end|>", 1);
  auto tokenizer = load(data);
  CHECK(tokenizer->ids().eot == end);
  CHECK(tokenizer->decode({end}) == "");
  REQUIRE(tokenizer->warnings().size() == 1);
  CHECK(StringRef(tokenizer->warnings()[0]).contains("looks like a control token"));
}
