// The tokenizer's surface: special tokens first, then the algorithm for the text between them; and
// the way back from ids to bytes.
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/tokenizer/Encoders.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace vetro {

static std::vector<SpecialTokens::Token> specialTokens(const Vocab &vocab) {
  std::vector<SpecialTokens::Token> tokens;
  for (int32_t id = 0; id < vocab.size(); ++id) {
    uint8_t attr = vocab.attrs[id];
    if (attr & (kControl | kUserDefined | kUnknown))
      tokens.push_back({id, vocab.texts.text(id), !(attr & (kControl | kUnknown)),
                        (attr & kStripLeft) != 0, (attr & kStripRight) != 0});
  }
  return tokens;
}

Tokenizer::Tokenizer(Vocab given) : vocab(std::move(given)), special(specialTokens(vocab)) {}

llvm::Expected<std::unique_ptr<Tokenizer>> Tokenizer::create(const VocabData &data) {
  llvm::Expected<Vocab> vocab = Vocab::create(data);
  if (!vocab)
    return vocab.takeError();
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::move(*vocab)));
}

std::vector<int32_t> Tokenizer::encode(StringRef text, bool addSpecial, bool parseSpecial) const {
  return encode(text, addSpecial, parseSpecial, nullptr);
}

std::vector<int32_t> Tokenizer::encodeExplained(StringRef text, bool addSpecial, bool parseSpecial,
                                                Explain &explain) const {
  explain = {};
  return encode(text, addSpecial, parseSpecial, &explain);
}

std::vector<int32_t> Tokenizer::encode(StringRef text, bool addSpecial, bool parseSpecial,
                                       Explain *explain) const {
  std::vector<int32_t> ids;
  if (addSpecial && vocab.addBos)
    ids.push_back(vocab.special.bos);
  bool afterSpecial = true;
  for (const SpecialTokens::Fragment &part : special.partition(text, parseSpecial)) {
    if (explain)
      explain->fragments.push_back({part.begin, part.end, part.id});
    StringRef stretch = text.slice(part.begin, part.end);
    if (part.id >= 0)
      ids.push_back(part.id);
    else if (vocab.kind == Vocab::Kind::Spm)
      encodeSpm(vocab, stretch, part.begin, vocab.addSpacePrefix && afterSpecial, ids, explain);
    else
      encodeBpe(vocab, stretch, part.begin, ids, explain);
    afterSpecial = part.id >= 0;
  }
  if (addSpecial && vocab.addEos)
    ids.push_back(vocab.special.eos);
  return ids;
}

/// U+2581 back to spaces.
static std::string unescapeSpaces(StringRef text) {
  std::string out;
  while (!text.empty()) {
    auto [before, after] = text.split("\xE2\x96\x81");
    out += before;
    if (before.size() < text.size())
      out += ' ';
    text = after;
  }
  return out;
}

/// The byte alphabet back to bytes; characters outside it stay as they are.
static std::string unspell(StringRef text) {
  std::string out;
  while (!text.empty()) {
    DecodedChar c = decodeUtf8(text);
    int byte = c.valid ? alphabetToByte(c.cp) : -1;
    if (byte >= 0)
      out += static_cast<char>(byte);
    else
      out += text.take_front(c.size);
    text = text.drop_front(c.size);
  }
  return out;
}

std::string Tokenizer::piece(int32_t id) const {
  if (id < 0 || id >= nTokens())
    return {};
  StringRef text = token(id);
  uint8_t attr = vocab.attrs[id];
  if (attr & (kControl | kUnknown | kUserDefined))
    return text.str();
  if (attr & kNormal)
    return vocab.kind == Vocab::Kind::Spm || vocab.pre->rawUtf8 ? unescapeSpaces(text)
                                                                : unspell(text);
  if (attr & kByte)
    return std::string(
        1, static_cast<char>(llvm::hexDigitValue(text[3]) << 4 | llvm::hexDigitValue(text[4])));
  return {};
}

std::string Tokenizer::decode(llvm::ArrayRef<int32_t> ids, bool printSpecial) const {
  std::string out;
  bool afterSpecial = true;
  for (int32_t id : ids) {
    if (id < 0 || id >= nTokens())
      continue;
    bool isFragment = vocab.attrs[id] & (kControl | kUnknown | kUserDefined);
    if (!isSpecial(id) || printSpecial) {
      std::string text = piece(id);
      bool prefixed = vocab.addSpacePrefix && afterSpecial && !isFragment;
      out += StringRef(text).drop_front(prefixed && !text.empty() && text[0] == ' ');
    }
    afterSpecial = isFragment;
  }
  return out;
}

} // namespace vetro
