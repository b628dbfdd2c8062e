// Checks a file's vocabulary and builds the tables that encoding and decoding read.
#include "runtime/tokenizer/Vocab.h"
#include "runtime/tokenizer/Encoders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using llvm::Error;
using llvm::formatv;
using llvm::StringRef;

namespace vetro {

std::string quoted(StringRef text) {
  std::string out = "\"";
  for (char c : text.take_front(60)) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (llvm::isPrint(c))
      out += c;
    else
      out += "\\x" + llvm::utohexstr(static_cast<uint8_t>(c), true, 2);
  }
  return out + (text.size() > 60 ? "...\"" : "\"");
}

static Error error(const llvm::formatv_object_base &message) {
  return llvm::createStringError(message.str());
}

void MergeTable::reserve(size_t nMerges) {
  slots.assign(llvm::PowerOf2Ceil(2 * nMerges + 16), Entry{0, 0, -1});
}

/// The slot of `pair`, or the free one where it belongs.
size_t MergeTable::slotOf(uint64_t pair) const {
  size_t mask = slots.size() - 1;
  size_t at = (pair * 0x9E3779B97F4A7C15ull >> 32) & mask; // Fibonacci hashing
  while (slots[at].result >= 0 && slots[at].pair != pair)
    at = (at + 1) & mask;
  return at;
}

static uint64_t pairKey(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

void MergeTable::insert(int32_t left, int32_t right, uint32_t rank, int32_t result) {
  uint64_t pair = pairKey(left, right);
  Entry &slot = slots[slotOf(pair)];
  if (slot.result < 0)
    slot = {pair, rank, result};
}

const MergeTable::Entry *MergeTable::find(int32_t left, int32_t right) const {
  if (slots.empty())
    return nullptr;
  const Entry &slot = slots[slotOf(pairKey(left, right))];
  return slot.result >= 0 ? &slot : nullptr;
}

/// The tokenizer's kind, its pre-tokenizer, and the defaults that go with them.
static Error setKind(Vocab &vocab, const VocabData &data) {
  SpecialIds &ids = vocab.special;
  if (data.model == "llama") {
    vocab.kind = Vocab::Kind::Spm;
    vocab.addBos = vocab.addSpacePrefix = true;
    ids.bos = 1, ids.eos = 2, ids.unk = 0;
    return Error::success();
  }
  if (data.model != "gpt2" && data.model != "gemma4")
    return error(formatv("tokenizer.ggml.model is {0}, known are \"llama\", \"gpt2\" and "
                         "\"gemma4\"; give the prompt as token ids instead",
                         quoted(data.model)));
  vocab.kind = Vocab::Kind::Bpe;
  bool gemma = data.model == "gemma4";
  StringRef pre = gemma ? "gemma4" : data.pre;
  if (pre.empty()) {
    vocab.warnings.push_back("tokenizer.ggml.pre is missing, \"default\" is used; words may be cut "
                             "differently from how the model learned them");
    pre = "default";
  }
  vocab.pre = findPreTokenizer(pre);
  if (!vocab.pre)
    return error(formatv("tokenizer.ggml.pre is {0}, known are: {1}; give one of these with "
                         "--override-kv tokenizer.ggml.pre=str:NAME",
                         quoted(pre), knownPreTokenizers()));
  if (!gemma)
    ids.bos = ids.eos = 11;
  if (vocab.pre->noBos)
    ids.bos = -1;
  vocab.addBos = vocab.pre->addBos;
  return Error::success();
}

static Error addTokens(Vocab &vocab, const VocabData &data) {
  constexpr size_t kLongest = 64 << 10;
  size_t n = data.tokens.size(), nBytes = 0;
  if (n == 0 || n > INT32_MAX)
    return error(formatv("tokenizer.ggml.tokens has {0} entries, expected 1 to 2^31-1", n));
  for (StringRef token : data.tokens)
    nBytes += token.size();
  vocab.texts.reserve(n, nBytes);
  for (size_t i = 0; i < n; ++i) {
    StringRef token = data.tokens[i];
    auto id = static_cast<int32_t>(i);
    if (token.size() > kLongest)
      return error(
          formatv("tokenizer.ggml.tokens: token {0} has {1} bytes, at most {2} are allowed", i,
                  token.size(), kLongest));
    if (token.empty()) {
      vocab.texts.appendHidden(token);
      vocab.warnings.push_back(formatv("token {0} is empty and never used", i));
    } else if (int32_t first = vocab.texts.append(token); first != id) {
      vocab.warnings.push_back(
          formatv("tokens {0} and {1} are both {2}, {0} is used", first, i, quoted(token)));
    }
  }
  return Error::success();
}

static Error addAttrs(Vocab &vocab, const VocabData &data) {
  constexpr uint8_t kOfType[] = {kUnused,      kNormal, kUnknown, kControl,
                                 kUserDefined, kUnused, kByte};
  size_t n = data.tokens.size();
  vocab.attrs.assign(n, kNormal);
  if (!data.types.empty() && data.types.size() < n)
    return error(formatv("tokenizer.ggml.token_type has {0} entries, tokenizer.ggml.tokens {1}; "
                         "expected as many",
                         data.types.size(), n));
  for (size_t i = 0; i < n && !data.types.empty(); ++i) {
    int32_t type = data.types[i];
    if (type < 0 || type > 6)
      return error(formatv("tokenizer.ggml.token_type: token {0} {1} has type {2}, expected 1 "
                           "(normal) to 6 (byte)",
                           i, quoted(data.tokens[i]), type));
    vocab.attrs[i] = kOfType[type];
  }
  return Error::success();
}

static Error addScores(Vocab &vocab, const VocabData &data) {
  if (vocab.kind != Vocab::Kind::Spm)
    return Error::success();
  size_t n = data.tokens.size();
  vocab.scores = data.scores;
  if (data.scores.empty()) {
    vocab.warnings.push_back("tokenizer.ggml.scores is missing, all scores are taken as 0");
    vocab.scores.assign(n, 0.0f);
  }
  if (vocab.scores.size() < n)
    return error(formatv("tokenizer.ggml.scores has {0} entries, tokenizer.ggml.tokens {1}; "
                         "expected as many",
                         data.scores.size(), n));
  vocab.scores.resize(n);
  for (size_t i = 0; i < n; ++i)
    if (!std::isfinite(vocab.scores[i]))
      return error(formatv("tokenizer.ggml.scores: token {0} {1} has score {2}, expected a finite "
                           "number",
                           i, quoted(data.tokens[i]), vocab.scores[i]));
  return Error::success();
}

/// The token of one byte: its character of the byte alphabet, or <0xXX>, or the byte itself.
static int32_t findByte(const TextTable &texts, uint8_t byte, bool alphabet) {
  std::string spelled;
  if (alphabet) {
    appendUtf8(byteToAlphabet(byte), spelled);
    return texts.find(spelled);
  }
  int32_t id = texts.find("<0x" + llvm::utohexstr(byte, false, 2) + ">");
  char c = static_cast<char>(byte);
  return id >= 0 ? id : texts.find(StringRef(&c, 1));
}

/// Byte tokens: type 6 must read <0xXX>; the vocabulary may also lack some.
static Error addBytes(Vocab &vocab, const VocabData &data) {
  for (size_t i = 0; i < data.tokens.size(); ++i) {
    StringRef t = data.tokens[i];
    if ((vocab.attrs[i] & kByte) && !(t.size() == 6 && t.starts_with("<0x") && t[5] == '>' &&
                                      llvm::isHexDigit(t[3]) && llvm::isHexDigit(t[4])))
      return error(
          formatv("token {0} has type 6 (byte) but reads {1}, expected <0xXX> with two hex "
                  "digits",
                  i, quoted(t)));
  }
  bool alphabet = vocab.kind == Vocab::Kind::Bpe && !vocab.pre->rawUtf8;
  size_t missing = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    vocab.byteTokens[byte] = findByte(vocab.texts, static_cast<uint8_t>(byte), alphabet);
    missing += vocab.byteTokens[byte] < 0;
  }
  if (missing > 0)
    vocab.warnings.push_back(formatv("{0} of 256 bytes have no token; {1}", missing,
                                     vocab.kind == Vocab::Kind::Spm
                                         ? "characters that need them become the unknown token"
                                         : "they are dropped from texts"));
  return Error::success();
}

static Error addMerges(Vocab &vocab, const VocabData &data) {
  if (vocab.kind != Vocab::Kind::Bpe)
    return Error::success();
  if (data.merges.empty() && StringRef(vocab.pre->names) != "kimi-k2")
    return error(formatv("tokenizer.ggml.merges is missing or empty, a vocabulary of kind {0} "
                         "needs it; convert the model again",
                         quoted(data.model)));
  vocab.merges.reserve(data.merges.size());
  std::string joined;
  for (size_t rank = 0; rank < data.merges.size(); ++rank) {
    StringRef merge = data.merges[rank];
    size_t space = merge.find(' ', 1);
    if (space == StringRef::npos)
      return error(formatv("tokenizer.ggml.merges: merge {0} is {1}, expected two tokens with a "
                           "space between",
                           rank, quoted(merge)));
    StringRef left = merge.take_front(space), right = merge.drop_front(space + 1);
    joined.assign(left.begin(), left.end());
    joined.append(right.begin(), right.end());
    int32_t ids[] = {vocab.texts.find(left), vocab.texts.find(right), vocab.texts.find(joined)};
    for (auto [id, text] : {std::pair{ids[0], left}, {ids[1], right}, {ids[2], StringRef(joined)}})
      if (id < 0)
        return error(formatv("tokenizer.ggml.merges: merge {0} {1} needs the token {2}, which is "
                             "not in tokenizer.ggml.tokens",
                             rank, quoted(merge), quoted(text)));
    vocab.merges.insert(ids[0], ids[1], static_cast<uint32_t>(rank), ids[2]);
  }
  return Error::success();
}

static Error setIds(Vocab &vocab, const VocabData &data) {
  SpecialIds &ids = vocab.special;
  struct {
    const char *key;
    int32_t &id;
    std::optional<uint32_t> given;
  } const kKeys[] = {
      {"bos_token_id", ids.bos, data.bos},
      {"eos_token_id", ids.eos, data.eos},
      {"unknown_token_id", ids.unk, data.unk},
      {"padding_token_id", ids.pad, data.pad},
      {"eot_token_id", ids.eot, data.eot},
      {"eom_token_id", ids.eom, data.eom},
      {"seperator_token_id", ids.sep, data.sep},
      {"fim_pre_token_id", ids.fimPrefix, data.fimPrefix},
      {"fim_suf_token_id", ids.fimSuffix, data.fimSuffix},
      {"fim_mid_token_id", ids.fimMiddle, data.fimMiddle},
      {"fim_pad_token_id", ids.fimPad, data.fimPad},
      {"fim_rep_token_id", ids.fimRepo, data.fimRepo},
      {"fim_sep_token_id", ids.fimSeparator, data.fimSeparator},
  };
  auto n = static_cast<uint32_t>(vocab.size());
  for (const auto &key : kKeys) {
    if (key.id >= static_cast<int32_t>(n)) // a default that this vocabulary has no room for
      key.id = -1;
    if (!key.given)
      continue;
    if (*key.given != UINT32_MAX && *key.given >= n)
      return error(formatv("tokenizer.ggml.{0} is {1}, expected an id below {2}, or {3} for none",
                           key.key, *key.given, n, UINT32_MAX));
    key.id = static_cast<int32_t>(*key.given); // 2^32-1 becomes -1
  }
  return Error::success();
}

static Error setFlags(Vocab &vocab, const VocabData &data) {
  vocab.addBos = data.addBos.value_or(vocab.addBos);
  vocab.addEos = data.addEos.value_or(vocab.addEos);
  if (vocab.pre && vocab.pre->forceBos)
    vocab.addBos = true;
  // Byte-pair vocabularies take no space prefix, whatever the file says.
  if (vocab.kind == Vocab::Kind::Spm)
    vocab.addSpacePrefix = data.addSpacePrefix.value_or(vocab.addSpacePrefix);
  for (auto [add, id, name] : {std::tuple{vocab.addBos, vocab.special.bos, "bos"},
                               std::tuple{vocab.addEos, vocab.special.eos, "eos"}})
    if (add && id < 0)
      return error(formatv("tokenizer.ggml.add_{0}_token is true, but there is no "
                           "tokenizer.ggml.{0}_token_id; set either with --override-kv",
                           name));
  return Error::success();
}

llvm::Expected<Vocab> Vocab::create(const VocabData &data) {
  Vocab vocab;
  for (auto step : {setKind, addTokens, addAttrs, addScores, addBytes, addMerges, setIds, setFlags})
    if (Error err = step(vocab, data))
      return std::move(err);
  guessSpecialIds(vocab, data.pre, data.modelName);
  return vocab;
}

} // namespace vetro
