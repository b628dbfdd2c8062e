// Vocabularies that are wrong: each is refused with a message that helps, or accepted with a
// warning, and never ends the program.
#include "tests/unit/Catch.h"
#include "tests/unit/tokenizer/VocabFile.h"
#include <limits>

using namespace vetro;
using namespace vetro::test;
using llvm::StringRef;

/// A sound SentencePiece vocabulary with tokens for "a" and "b" but for no byte.
static VocabData tinySpm() {
  VocabData data;
  data.model = "llama";
  data.tokens = {"<unk>", "<s>", "</s>", "a", "b", "▁", "ab"};
  data.scores = {0, 0, 0, -1, -2, -3, -4};
  data.types = {2, 3, 3, 1, 1, 1, 1};
  return data;
}

/// The error that `data` gives, which must hold `part`.
static void refuses(const VocabData &data, StringRef part) {
  llvm::Expected<std::unique_ptr<Tokenizer>> tokenizer = Tokenizer::create(data);
  REQUIRE(!tokenizer);
  std::string message = llvm::toString(tokenizer.takeError());
  INFO(message);
  CHECK(StringRef(message).contains(part));
}

/// Accepted, with a warning that holds `part`.
static std::unique_ptr<Tokenizer> warns(const VocabData &data, StringRef part) {
  auto tokenizer = load(data);
  std::string all;
  for (const std::string &warning : tokenizer->warnings())
    all += warning + "\n";
  INFO(all);
  CHECK(StringRef(all).contains(part));
  return tokenizer;
}

TEST_CASE("unknown kinds are refused, with the known ones named") {
  VocabData data = tinySpm();
  data.model = "zzz\x1b[2J";
  refuses(data, "tokenizer.ggml.model is \"zzz\\x1b[2J\", known are \"llama\", \"gpt2\"");
  data = tinyBpe({}, {"a b"});
  data.pre = "zzz";
  refuses(data, "tokenizer.ggml.pre is \"zzz\", known are: default, gpt-2, ");
}

TEST_CASE("a missing pre-tokenizer is the default one, with a warning") {
  VocabData data = tinyBpe({"ab"}, {"a b"});
  data.pre = "";
  warns(data, "tokenizer.ggml.pre is missing");
}

TEST_CASE("arrays that are missing or too short are refused") {
  VocabData data = tinySpm();
  data.tokens.clear();
  refuses(data, "tokenizer.ggml.tokens has 0 entries");
  data = tinySpm();
  data.scores.pop_back();
  refuses(data, "tokenizer.ggml.scores has 6 entries, tokenizer.ggml.tokens 7");
  data = tinySpm();
  data.types.pop_back();
  refuses(data, "tokenizer.ggml.token_type has 6 entries");
  data = tinySpm();
  data.scores.clear();
  warns(data, "tokenizer.ggml.scores is missing");
}

TEST_CASE("scores must be finite") {
  for (float score :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    VocabData data = tinySpm();
    data.scores[3] = score;
    refuses(data, "tokenizer.ggml.scores: token 3 \"a\" has score");
  }
}

TEST_CASE("token types must be known") {
  VocabData data = tinySpm();
  data.types.assign(7, 99);
  refuses(data, "tokenizer.ggml.token_type: token 0 \"<unk>\" has type 99, expected 1");
  data.types.assign(7, -1);
  refuses(data, "has type -1");
}

TEST_CASE("special ids must be in the vocabulary, or 2^32-1 for none") {
  VocabData data = tinySpm();
  data.eos = 7;
  refuses(data, "tokenizer.ggml.eos_token_id is 7, expected an id below 7, or 4294967295");
  data.eos = UINT32_MAX;
  CHECK(load(data)->eos() == -1);
  data.bos = UINT32_MAX;
  refuses(data, "tokenizer.ggml.add_bos_token is true, but there is no");
  data.addBos = false;
  CHECK(load(data)->bos() == -1);
}

TEST_CASE("of equal tokens the lower id is used, with a warning") {
  VocabData data = tinySpm();
  data.tokens[6] = "a";
  auto tokenizer = warns(data, "tokens 3 and 6 are both \"a\", 3 is used");
  data.addSpacePrefix = false;
  CHECK(load(data)->encode("a", false, false) == std::vector<int32_t>{3});
  CHECK(tokenizer->piece(6) == "a");
}

TEST_CASE("odd token texts") {
  VocabData data = tinySpm();
  data.tokens[6] = "";
  warns(data, "token 6 is empty");
  data.tokens[6] = "\xFF\xFE"; // any bytes are allowed
  data.addSpacePrefix = false;
  CHECK(load(data)->encode("a\xFF\xFE", false, false).front() == 3);
  std::string huge((64 << 10) + 1, 'x');
  data.tokens[6] = huge;
  refuses(data, "token 6 has 65537 bytes, at most 65536");
}

TEST_CASE("bytes without a token: a warning, and the unknown token instead") {
  VocabData data = tinySpm();
  data.addSpacePrefix = false;
  auto tokenizer = warns(data, "254 of 256 bytes have no token");
  CHECK(tokenizer->encode("a\U0001F600b", false, false) == std::vector<int32_t>{3, 0, 4});
  data.unk = UINT32_MAX;
  CHECK(load(data)->encode("a\U0001F600b", false, false) == std::vector<int32_t>{3, 4});
}

TEST_CASE("byte-pair vocabularies drop bytes without a token, with a warning") {
  VocabData data = tinyBpe({"ab"}, {"a b"});
  data.tokens[7] = "[seven]";
  auto tokenizer = warns(data, "1 of 256 bytes have no token");
  CHECK(tokenizer->encode("ab\x07", false, false) == std::vector<int32_t>{256});
}

TEST_CASE("byte tokens must read <0xXX>") {
  for (StringRef text : {"<0x-1>", "<0x1>", "<0x123>", "0x12", "<0xG0>"}) {
    VocabData data = tinySpm();
    data.tokens[6] = text;
    data.types[6] = 6;
    refuses(data, "token 6 has type 6 (byte) but reads");
  }
}

TEST_CASE("merges must join known tokens") {
  refuses(tinyBpe({}, {}), "tokenizer.ggml.merges is missing or empty");
  refuses(tinyBpe({"ab"}, {"ab"}), "merge 0 is \"ab\", expected two tokens with a space between");
  refuses(tinyBpe({}, {"a b"}), "merge 0 \"a b\" needs the token \"ab\"");
  refuses(tinyBpe({"ab"}, {"a b", "ab zz"}), "merge 1 \"ab zz\" needs the token \"zz\"");
}

TEST_CASE("a vocabulary of control tokens only still works") {
  VocabData data = tinySpm();
  data.types.assign(7, 3);
  CHECK(load(data)->encode("ab", true, true) == std::vector<int32_t>{1, 6});
}
