// A vocabulary: what a model file says about its tokens (VocabData), and the same checked and
// indexed (Vocab). The engine fills VocabData from the keys `tokenizer.ggml.*`.
#pragma once
#include "runtime/tokenizer/PreTokenizer.h"
#include "runtime/tokenizer/TextTable.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vetro {

/// A file's tokenizer, key by key; absent keys are empty. Texts are borrowed: they need to live
/// only until Tokenizer::create() returns.
struct VocabData {
  llvm::StringRef model;                                     // tokenizer.ggml.model
  llvm::StringRef pre;                                       // tokenizer.ggml.pre
  llvm::StringRef modelName;                                 // general.name
  std::vector<llvm::StringRef> tokens;                       // tokenizer.ggml.tokens
  std::vector<float> scores;                                 // tokenizer.ggml.scores
  std::vector<int32_t> types;                                // tokenizer.ggml.token_type
  std::vector<llvm::StringRef> merges;                       // tokenizer.ggml.merges
  std::optional<uint32_t> bos, eos, unk, pad, eot, eom, sep; // tokenizer.ggml.bos_token_id ...
  std::optional<uint32_t> fimPrefix, fimSuffix, fimMiddle, fimPad, fimRepo, fimSeparator;
  std::optional<bool> addBos, addEos, addSpacePrefix; // tokenizer.ggml.add_bos_token ...
};

/// What a token is, as bits: `tokenizer.ggml.token_type`, and what is known of it by its name.
enum TokenAttr : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 4,
  kUserDefined = 8,
  kUnused = 16,
  kByte = 32,
  kStripLeft = 64,   // eats white space before it
  kStripRight = 128, // eats white space after it
};

/// Ids with a meaning; -1 where the vocabulary has none.
struct SpecialIds {
  int32_t bos = -1, eos = -1, unk = -1, pad = -1, eot = -1, eom = -1, sep = -1;
  int32_t fimPrefix = -1, fimSuffix = -1, fimMiddle = -1, fimPad = -1, fimRepo = -1,
          fimSeparator = -1;
};

/// The merges of a byte-pair vocabulary: two token ids to their rank and result.
class MergeTable {
public:
  struct Entry {
    uint64_t pair;
    uint32_t rank;
    int32_t result; // -1: free slot
  };
  void reserve(size_t nMerges);
  /// Of two entries for one pair the first counts.
  void insert(int32_t left, int32_t right, uint32_t rank, int32_t result);
  const Entry *find(int32_t left, int32_t right) const;

private:
  size_t slotOf(uint64_t pair) const;
  std::vector<Entry> slots;
};

/// A checked vocabulary. Immutable after create(), so it can be shared by threads.
struct Vocab {
  enum class Kind { Spm, Bpe };

  /// Checks and indexes `data`. An error names the key, what was found and what is needed: unknown
  /// model or pre-tokenizer, no tokens, arrays too short, unknown token types, scores that are not
  /// finite, ids out of range (2^32-1 means none), malformed byte tokens, merges of no known
  /// tokens, tokens over 64 KiB. What can be lived with goes into `warnings`.
  static llvm::Expected<Vocab> create(const VocabData &data);

  Kind kind = Kind::Spm;
  const PreTokenizer *pre = nullptr; // of Kind::Bpe
  TextTable texts;
  std::vector<uint8_t> attrs; // TokenAttr
  std::vector<float> scores;  // of Kind::Spm
  MergeTable merges;          // of Kind::Bpe
  SpecialIds special;
  llvm::SmallVector<int32_t> eog; // ascending
  bool addBos = false, addEos = false, addSpacePrefix = false;
  int32_t byteTokens[256]; // the token that spells one byte, or -1
  std::vector<std::string> warnings;

  int32_t size() const { return texts.size(); }
  bool isEog(int32_t id) const { return std::binary_search(eog.begin(), eog.end(), id); }
};

/// Fills in, by name, the special ids that `vocab` lacks, finds the tokens that end a generation,
/// and sets the attributes that files do not carry. Part of Vocab::create() (SpecialIds.cpp).
void guessSpecialIds(Vocab &vocab, llvm::StringRef pre, llvm::StringRef modelName);

/// `text` in quotes, at most 60 bytes of it, everything but printable ASCII escaped.
std::string quoted(llvm::StringRef text);

} // namespace vetro
