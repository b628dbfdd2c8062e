// The tokenizers of random models: real ones, through which every text passes unchanged.
#include "frontends/tiny/TinyVocab.h"
#include "runtime/engine/Vocabulary.h"
#include "tests/unit/Catch.h"

#include "llvm/Support/FileSystem.h"
#include <random>

using namespace vetro;

namespace {

std::unique_ptr<Tokenizer> tokenizer(llvm::StringRef model, int64_t size) {
  gguf::Writer writer;
  writer.addString("general.architecture", "none");
  addTinyVocab(writer, model, size);
  llvm::SmallString<128> name;
  REQUIRE(!llvm::sys::fs::createTemporaryFile("vetro-vocab", "gguf", name));
  REQUIRE(llvm::toString(writer.write(name)).empty());
  auto file = gguf::File::open(name.str().str());
  REQUIRE(bool(file));
  auto result = loadTokenizer(**file);
  llvm::sys::fs::remove(name);
  INFO((result ? "" : llvm::toString(result.takeError())));
  REQUIRE(bool(result));
  return std::move(*result);
}

/// Bytes, or characters of one to four bytes. U+2581 is a space to SentencePiece and left out.
std::string randomText(unsigned seed, bool utf8) {
  std::mt19937 random(seed);
  std::string text;
  for (int i = 0; i < 200; ++i) {
    if (!utf8) {
      text += char(random());
      continue;
    }
    uint32_t bits = random(), kind = bits % 6;
    uint32_t c = bits >> 8;
    if (kind < 3)
      text += char(c % 128);
    else if (kind == 3)
      text += {char(0xC2 + c % 30), char(0x80 + (c >> 8) % 64)};
    else if (kind == 4)
      text += {char(0xE3 + c % 9), char(0x80 + (c >> 8) % 64), char(0x80 + (c >> 4) % 64)};
    else
      text += {char(0xF0), char(0x9F), char(0x80 + (c >> 8) % 64), char(0x80 + (c >> 4) % 64)};
  }
  return text;
}

constexpr llvm::StringLiteral kinds[] = {"gpt2", "llama"};

} // namespace

TEST_CASE("every text comes back unchanged") {
  for (llvm::StringRef kind : kinds) {
    INFO(kind.str());
    auto t = tokenizer(kind, 512);
    CHECK(t->nTokens() == 512);
    CHECK(t->warnings().empty());
    for (llvm::StringRef text : {"", " ", "   a  b ", "\n\n\t x", "The model", "na\xC3\xAFve",
                                 "\xF0\x9F\xA6\x99 <s> </s> <unk>", "12345, 67.8!"})
      CHECK(t->decode(t->encode(text, true, false)) == text);
    for (unsigned seed = 0; seed < 50; ++seed) {
      // Bytes that are no UTF-8 may swallow a following space in SentencePiece's kind.
      std::string text = randomText(seed, /*utf8=*/kind != "gpt2" || seed % 5 != 0);
      INFO("seed " << seed);
      CHECK(t->decode(t->encode(text, true, false)) == text);
    }
  }
}

TEST_CASE("English becomes pieces") {
  std::vector<std::string> pieces[2];
  for (int i = 0; i < 2; ++i) {
    auto t = tokenizer(kinds[i], 512);
    for (int32_t id : t->encode(" the children looked at the river", false, false))
      pieces[i].push_back(t->piece(id));
    CHECK(pieces[i].front() == " the");
    CHECK(pieces[i].size() <= 16);
  }
}

TEST_CASE("special tokens frame a text") {
  for (llvm::StringRef kind : kinds) {
    auto t = tokenizer(kind, 1024);
    CHECK(t->encode("", true, false) == std::vector<int32_t>{1});
    CHECK(t->encode("</s>", false, true) == std::vector<int32_t>{2});
    CHECK(t->isEog(2));
    CHECK(t->nTokens() == 1024);
    CHECK(t->decode({1023}).empty());
  }
}
