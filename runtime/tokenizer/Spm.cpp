// SentencePiece's byte-pair mode: spaces become U+2581, and of all neighbours that together spell a
// token those with the highest score are joined first. Characters without a token become bytes.
#include "runtime/tokenizer/Encoders.h"
#include "runtime/tokenizer/Merger.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using llvm::StringRef;

namespace vetro {

/// An order in which higher scores come first, so that both kinds of merging share one heap.
static uint32_t orderOf(float score) {
  uint32_t bits = llvm::bit_cast<uint32_t>(score + 0.0f); // -0 becomes 0
  uint32_t rising = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return ~rising;
}

/// Appends the byte tokens of a character that is no token, or the unknown token.
static void appendBytes(const Vocab &vocab, StringRef character, std::vector<int32_t> &out) {
  size_t before = out.size();
  for (char c : character)
    out.push_back(vocab.byteTokens[static_cast<uint8_t>(c)]);
  if (std::find(out.begin() + before, out.end(), -1) == out.end())
    return;
  out.resize(before);
  if (vocab.special.unk >= 0)
    out.push_back(vocab.special.unk);
}

static void pushCharacters(StringRef text, Merger &merger) {
  merger.clear(llvm::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
  for (size_t at = 0; at < text.size();) {
    size_t length = utf8Length(text.substr(at));
    merger.push(static_cast<uint32_t>(length), -1);
    at += length;
  }
}

void encodeSpm(const Vocab &vocab, StringRef text, size_t base, bool prefix,
               std::vector<int32_t> &out, Explain *explain) {
  std::string escaped = escapeSpaces(prefix ? " " + text.str() : text.str());
  Merger merger;
  pushCharacters(escaped, merger);
  auto spelling = [&](uint32_t begin, uint32_t size) {
    return StringRef(escaped).substr(begin, size);
  };
  auto pairOf = [&](const Merger::Symbol &l,
                    const Merger::Symbol &r) -> std::optional<Merger::Pair> {
    int32_t id = vocab.texts.find(spelling(l.begin, l.size + r.size));
    if (id < 0)
      return std::nullopt;
    return Merger::Pair{orderOf(vocab.scores[id]), id};
  };
  auto record = [&](const Merger::Symbol &l, const Merger::Symbol &r, Merger::Pair pair) {
    explain->merges.push_back({spelling(l.begin, l.size).str(), spelling(r.begin, r.size).str(),
                               vocab.texts.text(pair.id).str(), true, 0, vocab.scores[pair.id]});
  };
  size_t nIds = out.size(), nMerges = explain ? explain->merges.size() : 0;
  if (explain)
    merger.run(pairOf, record);
  else
    merger.run(pairOf, nullptr);
  merger.forEach([&](const Merger::Symbol &symbol) {
    StringRef spelled = spelling(symbol.begin, symbol.size);
    int32_t id = symbol.id >= 0 ? symbol.id : vocab.texts.find(spelled);
    if (id >= 0)
      out.push_back(id);
    else
      appendBytes(vocab, spelled, out);
  });
  if (explain)
    explain->words.push_back({base,
                              base + text.size(),
                              {out.begin() + nIds, out.end()},
                              nMerges,
                              explain->merges.size() - nMerges});
}

} // namespace vetro
