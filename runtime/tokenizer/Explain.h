// What `vetro tokenize --explain` shows: how a text became ids, step by step.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace vetro {

/// The record of one encoding. Byte ranges refer to the text given to encode().
struct Explain {
  /// A stretch of the text: a special token found in it, or text that is tokenized.
  struct Fragment {
    size_t begin, end;
    int32_t special; // the token's id, or -1 for text
  };
  /// A word: what the pre-tokenizer cut out. Merges never cross its borders. A SentencePiece
  /// vocabulary has no pre-tokenizer: there a word is a whole fragment.
  struct Word {
    size_t begin, end;
    std::vector<int32_t> ids;
    size_t firstMerge, nMerges; // its part of `merges`
  };
  /// One merge, in the order in which they happened. Texts are spelled as in the vocabulary.
  struct Merge {
    std::string left, right, result;
    bool byScore;
    uint32_t rank; // of a byte-pair merge: its line in the list of merges, lowest first
    float score;   // of a SentencePiece merge: the result's score, highest first
  };
  std::vector<Fragment> fragments;
  std::vector<Word> words;
  std::vector<Merge> merges;
};

} // namespace vetro
