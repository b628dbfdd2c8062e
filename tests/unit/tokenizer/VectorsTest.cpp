// The published vectors of each vocabulary: 46 texts and their ids.
#include "tests/unit/Catch.h"
#include "tests/unit/tokenizer/VocabFile.h"
#include "llvm/ADT/SmallVector.h"

using namespace vetro;
using namespace vetro::test;
using llvm::StringRef;

/// Splits at each separator; one at the very end opens no further case.
static std::vector<StringRef> cases(StringRef text) {
  constexpr StringRef kSeparator = "\n__ggml_vocab_test__\n";
  std::vector<StringRef> out;
  while (!text.empty()) {
    auto [head, tail] = text.split(kSeparator);
    out.push_back(head);
    text = tail;
  }
  return out;
}

TEST_CASE("ids equal the published vectors, and come back as the same bytes") {
  for (const std::string &name : vocabNames()) {
    if (vocabPath(name).empty())
      return;
    VocabFile file(vocabPath(name));
    auto tokenizer = load(file.data);
    std::string input = readFile(vocabPath(name, ".gguf.inp"));
    std::string output = readFile(vocabPath(name, ".gguf.out"));
    std::vector<StringRef> texts = cases(input);
    llvm::SmallVector<StringRef> lines;
    StringRef(output).split(lines, '\n');
    REQUIRE(texts.size() == 46);
    REQUIRE(lines.size() >= texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      INFO(name << ", case " << i << ": \"" << texts[i].str() << "\"");
      std::string ids;
      std::vector<int32_t> got = tokenizer->encode(texts[i], false, false);
      for (int32_t id : got)
        ids += " " + std::to_string(id);
      CHECK(ids == lines[i].rtrim("\r").str());
      CHECK(tokenizer->decode(got) == texts[i].str());
    }
  }
}
