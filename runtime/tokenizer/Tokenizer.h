// Text to token ids and back: the first and the last stage of a token's way.
#pragma once
#include "runtime/tokenizer/Explain.h"
#include "runtime/tokenizer/Special.h"
#include "runtime/tokenizer/Vocab.h"
#include <memory>

namespace vetro {

/// Encodes and decodes with one vocabulary. Immutable: all methods may be called from any thread.
class Tokenizer {
public:
  /// Checks `data` (see Vocab::create() for what is refused) and builds the tables. The texts in
  /// `data` are copied.
  static llvm::Expected<std::unique_ptr<Tokenizer>> create(const VocabData &data);

  /// The ids of `text` (any bytes, under 2 GiB). `addSpecial`: BOS before and EOS after, as far as
  /// the vocabulary says so. `parseSpecial`: the text of a control token becomes that token;
  /// user-defined tokens are found in any case. Of SentencePiece vocabularies, each stretch of text
  /// at the start or after a special token gets a space prefix where the vocabulary says so.
  std::vector<int32_t> encode(llvm::StringRef text, bool addSpecial, bool parseSpecial) const;

  /// The same ids, and in `explain` how they came about.
  std::vector<int32_t> encodeExplained(llvm::StringRef text, bool addSpecial, bool parseSpecial,
                                       Explain &explain) const;

  /// The bytes of `ids`: decode(encode(text)) is `text`, as far as no special token ate white space
  /// or no token is unknown. A space prefix is taken off again. `special`: control tokens are
  /// printed. Ids outside the vocabulary print nothing.
  std::string decode(llvm::ArrayRef<int32_t> ids, bool special = false) const;

  /// The bytes that `id` prints: spaces and bytes unescaped; control and unknown tokens print
  /// their text, unused ones nothing. Empty for an id outside the vocabulary.
  std::string piece(int32_t id) const;
  /// The token as the vocabulary spells it. `id` must be in the vocabulary.
  llvm::StringRef token(int32_t id) const { return vocab.texts.text(id); }
  /// True for control and unknown tokens: decode() prints them only when asked.
  bool isSpecial(int32_t id) const { return vocab.attrs[id] & (kControl | kUnknown); }
  /// True for ids that end a generation.
  bool isEog(int32_t id) const { return vocab.isEog(id); }

  int32_t nTokens() const { return vocab.size(); }
  const SpecialIds &ids() const { return vocab.special; }
  int32_t bos() const { return vocab.special.bos; }
  int32_t eos() const { return vocab.special.eos; }
  bool addsBos() const { return vocab.addBos; }
  bool addsEos() const { return vocab.addEos; }
  llvm::ArrayRef<int32_t> eogIds() const { return vocab.eog; }
  /// What was odd about the vocabulary but could be lived with.
  llvm::ArrayRef<std::string> warnings() const { return vocab.warnings; }

private:
  explicit Tokenizer(Vocab vocab);
  std::vector<int32_t> encode(llvm::StringRef text, bool addSpecial, bool parseSpecial,
                              Explain *explain) const;

  Vocab vocab;
  SpecialTokens special;
};

} // namespace vetro
