// Trains the pieces and writes the two kinds of vocabulary.
#include "frontends/tiny/TinyVocab.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include <array>
#include <map>

namespace vetro {

namespace {

/// What the pieces are learned from.
constexpr llvm::StringLiteral page =
    "The model reads a text and writes what comes next. First the text is cut into tokens, and "
    "each "
    "token is a number. The number picks a row of a table, which is a vector. Then the vector goes "
    "through the layers, one after the other. In each layer the token looks at the tokens before "
    "it, "
    "takes from them what it needs, and adds that to its own vector. After that a small network "
    "works "
    "on the vector alone. At the end the vector is compared with every row of the table, and the "
    "token whose row is nearest is the most likely to come next. It is written down, and the whole "
    "thing starts again with one more token than before. Nothing is hidden here: you can stop at "
    "any "
    "time, look at the numbers, change them, and see what happens to the answer. There was once a "
    "little machine that lived in a house by the river. Every morning it would open the window, "
    "read "
    "the weather, and tell the children of the village whether they should take their coats. When "
    "the "
    "sun was shining it said so with a song; when the rain was coming it would ring a bell. Some "
    "people "
    "thought that it was magic, but the children knew better, because they had seen the wheels "
    "inside "
    "and how they turned. They could name every one of them. And so, when one day the machine was "
    "wrong, they did not shout at it. They opened the door, found the wheel that was out of its "
    "place, "
    "and put it back where it should have been.";

using Symbols = std::vector<std::string>;
using Merge = std::pair<std::string, std::string>;

/// The page's words with the space before them, in single characters, and how often each occurs.
std::map<std::string, std::pair<Symbols, int>> wordsOfPage() {
  std::map<std::string, std::pair<Symbols, int>> words;
  std::string word;
  for (char c : page.str() + " ") {
    if (llvm::isAlpha(c)) {
      word += c;
      continue;
    }
    if (llvm::StringRef(word).trim().size() > 1) {
      auto &[symbols, count] = words[word];
      if (count++ == 0)
        for (char letter : word)
          symbols.push_back(std::string(1, letter));
    }
    word = c == ' ' ? " " : "";
  }
  return words;
}

/// Joins each `merge` in the word, from left to right.
void joinPairs(const Merge &merge, Symbols &symbols) {
  Symbols joined;
  for (size_t i = 0; i < symbols.size(); ++i) {
    bool hit =
        i + 1 < symbols.size() && symbols[i] == merge.first && symbols[i + 1] == merge.second;
    joined.push_back(hit ? merge.first + merge.second : symbols[i]);
    i += hit;
  }
  symbols = std::move(joined);
}

/// Byte-pair merges, the most frequent first (Sennrich et al. 2016); at most `limit`, of pairs that
/// occur at least twice; of equally frequent ones the first in the order of bytes.
std::vector<Merge> trainMerges(size_t limit) {
  auto words = wordsOfPage();
  std::vector<Merge> merges;
  while (merges.size() < limit) {
    std::map<Merge, int> counts;
    for (const auto &[word, entry] : words)
      for (size_t i = 0; i + 1 < entry.first.size(); ++i)
        counts[{entry.first[i], entry.first[i + 1]}] += entry.second;
    const Merge *best = nullptr;
    int most = 1;
    for (const auto &[pair, count] : counts)
      if (count > most)
        most = count, best = &pair;
    if (!best)
      break;
    merges.push_back(*best);
    for (auto &[word, entry] : words)
      joinPairs(merges.back(), entry.first);
  }
  return merges;
}

/// The character that stands for a byte in byte-pair vocabularies (openai/gpt-2, encoder.py):
/// itself where it is printable, else one from U+0100 on, in order.
std::array<std::string, 256> byteAlphabet() {
  std::array<std::string, 256> alphabet;
  unsigned next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    bool itself = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);
    char buffer[UNI_MAX_UTF8_BYTES_PER_CODE_POINT], *end = buffer;
    llvm::ConvertCodePointToUTF8(itself ? byte : next++, end);
    alphabet[byte].assign(buffer, end);
  }
  return alphabet;
}

/// Token types as in the file.
enum TokenType : int32_t { Normal = 1, Unknown = 2, Control = 3, Unused = 5, Byte = 6 };

struct Tokens {
  std::vector<std::string> texts;
  std::vector<int32_t> types;
  std::vector<float> scores;

  void add(std::string text, TokenType type, float score = 0) {
    texts.push_back(std::move(text));
    types.push_back(type);
    scores.push_back(score);
  }
};

/// `text` with each space written as `space`.
std::string spelled(llvm::StringRef text, llvm::StringRef space) {
  std::string out;
  for (char c : text)
    out += c == ' ' ? space.str() : std::string(1, c);
  return out;
}

/// Bytes in the byte alphabet, then merges, which are also listed in `merges`.
void addBytePairs(Tokens &tokens, size_t size, std::vector<std::string> &merges) {
  std::array<std::string, 256> alphabet = byteAlphabet();
  for (const std::string &character : alphabet)
    tokens.add(character, Normal);
  const std::string &space = alphabet[' '];
  for (const auto &[left, right] : trainMerges(size - tokens.texts.size())) {
    merges.push_back(spelled(left, space) + " " + spelled(right, space));
    tokens.add(spelled(left + right, space), Normal);
  }
}

/// Byte tokens, merges with their order as scores, then characters.
void addPieces(Tokens &tokens, size_t size) {
  constexpr llvm::StringLiteral space = "\xE2\x96\x81"; // U+2581
  for (unsigned byte = 0; byte < 256; ++byte)
    tokens.add("<0x" + llvm::utohexstr(byte, /*LowerCase=*/false, /*Width=*/2) + ">", Byte);
  constexpr unsigned characters = '~' - ' ' + 1;
  float score = 0;
  for (const auto &[left, right] : trainMerges(size - tokens.texts.size() - characters))
    tokens.add(spelled(left + right, space), Normal, --score);
  for (char c = ' '; c <= '~'; ++c)
    tokens.add(spelled(std::string(1, c), space), Normal, --score);
}

} // namespace

void addTinyVocab(gguf::Writer &writer, llvm::StringRef model, int64_t size) {
  Tokens tokens;
  tokens.add("<unk>", Unknown);
  tokens.add("<s>", Control);
  tokens.add("</s>", Control);
  std::vector<std::string> merges;
  bool bytePairs = model == "gpt2";
  if (bytePairs)
    addBytePairs(tokens, size, merges);
  else
    addPieces(tokens, size);
  for (int64_t i = 0; int64_t(tokens.texts.size()) < size; ++i)
    tokens.add("<unused" + std::to_string(i) + ">", Unused);

  writer.addString("tokenizer.ggml.model", model);
  if (bytePairs)
    writer.addString("tokenizer.ggml.pre", "gpt-2");
  writer.addStrings("tokenizer.ggml.tokens", tokens.texts);
  writer.addArray<int32_t>("tokenizer.ggml.token_type", tokens.types);
  if (bytePairs)
    writer.addStrings("tokenizer.ggml.merges", merges);
  else
    writer.addArray<float>("tokenizer.ggml.scores", tokens.scores);
  writer.add<uint32_t>("tokenizer.ggml.unknown_token_id", 0);
  writer.add<uint32_t>("tokenizer.ggml.bos_token_id", 1);
  writer.add<uint32_t>("tokenizer.ggml.eos_token_id", 2);
  writer.add<bool>("tokenizer.ggml.add_bos_token", true);
  writer.add<bool>("tokenizer.ggml.add_space_prefix", false);
}

} // namespace vetro
