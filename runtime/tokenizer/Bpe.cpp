// Byte-pair encoding: words from the pre-tokenizer, then merges by rank inside each word. Symbols
// are bytes (written in the byte alphabet) or, in vocabularies on raw UTF-8, characters.
#include "runtime/tokenizer/Encoders.h"
#include "runtime/tokenizer/Merger.h"
#include <array>

using llvm::StringRef;

namespace vetro {

static constexpr bool standsForItself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

/// Bytes that do not stand for themselves follow U+0100 in order.
static constexpr std::array<uint16_t, 256> kAlphabet = [] {
  std::array<uint16_t, 256> table{};
  uint16_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte)
    table[byte] = standsForItself(byte) ? static_cast<uint16_t>(byte) : next++;
  return table;
}();

uint32_t byteToAlphabet(uint8_t byte) { return kAlphabet[byte]; }

int alphabetToByte(uint32_t cp) {
  if (cp < 0x100)
    return standsForItself(cp) ? static_cast<int>(cp) : -1;
  if (cp > 0x143)
    return -1;
  uint32_t rank = cp - 0x100; // 0x00-0x20, 0x7F-0xA0, 0xAD
  return static_cast<int>(rank <= 0x20 ? rank : rank <= 0x42 ? 0x7F + rank - 0x21 : 0xAD);
}

namespace {

class BpeEncoder {
public:
  BpeEncoder(const Vocab &vocab, std::vector<int32_t> &out, Explain *explain)
      : vocab(vocab), out(out), explain(explain) {}

  void encodeWord(StringRef word) {
    if (int32_t whole = wholeWord(word); whole >= 0)
      return out.push_back(whole);
    pushSymbols(word);
    auto pairOf = [&](const Merger::Symbol &l,
                      const Merger::Symbol &r) -> std::optional<Merger::Pair> {
      if (l.id < 0 || r.id < 0)
        return std::nullopt;
      if (const MergeTable::Entry *merge = vocab.merges.find(l.id, r.id))
        return Merger::Pair{merge->rank, merge->result};
      return std::nullopt;
    };
    auto record = [&](const Merger::Symbol &l, const Merger::Symbol &r, Merger::Pair pair) {
      auto text = [&](int32_t id) { return vocab.texts.text(id).str(); };
      explain->merges.push_back({text(l.id), text(r.id), text(pair.id), false, pair.order, 0.0f});
    };
    if (explain)
      merger.run(pairOf, record);
    else
      merger.run(pairOf, nullptr);
    merger.forEach([&](const Merger::Symbol &symbol) { emit(word, symbol); });
  }

private:
  /// The token of a whole word that skips merging, or -1.
  int32_t wholeWord(StringRef word) {
    if (vocab.pre->rawUtf8) // a run of newlines
      return word.find_first_not_of('\n') == StringRef::npos ? vocab.texts.find(word) : -1;
    if (!vocab.pre->ignoreMerges || word.size() > vocab.texts.longest())
      return -1;
    spelled.clear();
    for (char c : word)
      appendUtf8(byteToAlphabet(static_cast<uint8_t>(c)), spelled);
    return vocab.texts.find(spelled);
  }

  void pushSymbols(StringRef word) {
    merger.clear(word.size());
    if (!vocab.pre->rawUtf8) {
      for (char c : word)
        merger.push(1, vocab.byteTokens[static_cast<uint8_t>(c)]);
      return;
    }
    for (size_t at = 0; at < word.size();) {
      StringRef symbol = word.substr(at, utf8Length(word.substr(at)));
      merger.push(static_cast<uint32_t>(symbol.size()), vocab.texts.find(symbol));
      at += symbol.size();
    }
  }

  /// A symbol that is no token falls back to its bytes; bytes without a token are dropped.
  void emit(StringRef word, const Merger::Symbol &symbol) {
    if (symbol.id >= 0)
      return out.push_back(symbol.id);
    if (!vocab.pre->rawUtf8)
      return;
    for (char c : word.substr(symbol.begin, symbol.size))
      if (int32_t id = vocab.byteTokens[static_cast<uint8_t>(c)]; id >= 0)
        out.push_back(id);
  }

  const Vocab &vocab;
  std::vector<int32_t> &out;
  Explain *explain;
  Merger merger;
  std::string spelled;
};

} // namespace

std::string escapeSpaces(StringRef text) {
  std::string out;
  out.reserve(text.size() + text.count(' ') * 2);
  for (char c : text) {
    if (c == ' ')
      out += "\xE2\x96\x81";
    else
      out += c;
  }
  return out;
}

void encodeBpe(const Vocab &vocab, StringRef text, size_t base, std::vector<int32_t> &out,
               Explain *explain) {
  Chars chars(text);
  BpeEncoder encoder(vocab, out, explain);
  size_t begin = 0;
  for (size_t end : splitWords(*vocab.pre, chars)) {
    size_t first = chars.offset[begin], last = chars.offset[end];
    size_t nIds = out.size(), nMerges = explain ? explain->merges.size() : 0;
    StringRef word = text.slice(first, last);
    if (vocab.pre->rawUtf8)
      encoder.encodeWord(escapeSpaces(word));
    else
      encoder.encodeWord(word);
    if (explain)
      explain->words.push_back({base + first,
                                base + last,
                                {out.begin() + nIds, out.end()},
                                nMerges,
                                explain->merges.size() - nMerges});
    begin = end;
  }
}

} // namespace vetro
