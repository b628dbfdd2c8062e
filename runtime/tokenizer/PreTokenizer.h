// The pre-tokenizers of byte-pair vocabularies: they cut a text into words before any merging.
// One table (PreTokenizer.cpp) maps each `tokenizer.ggml.pre` to its splitters; the splitters
// (PreStages.cpp) are hand-written matchers, linear in the text and without recursion.
#pragma once
#include "runtime/tokenizer/Unicode.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace vetro {

/// Cuts the characters [begin, end) of `text` into pieces and appends the end of each to `ends`.
/// Pieces are in order, cover the range and are not empty.
using SplitFn = void (*)(const Chars &text, size_t begin, size_t end, std::vector<size_t> &ends);

/// What a value of `tokenizer.ggml.pre` stands for.
struct PreTokenizer {
  const char *names;         // the values, separated by spaces
  SplitFn stages[6] = {};    // applied one after the other, each to every piece of the one before
  bool ignoreMerges = false; // a whole word that is a token is taken unmerged
  bool addBos = false;       // BOS is added unless the file says otherwise
  bool noBos = false;        // there is no default BOS
  bool rawUtf8 = false;      // symbols are characters and spaces U+2581, not the byte alphabet
  bool forceBos = false;     // BOS is added even if the file says not to
};

/// The row of `name`, or null where the name is unknown.
const PreTokenizer *findPreTokenizer(llvm::StringRef name);

/// All known names, in the order of the table, separated by ", ".
std::string knownPreTokenizers();

/// Applies the stages: the end of each word, in characters.
std::vector<size_t> splitWords(const PreTokenizer &pre, const Chars &text);

} // namespace vetro
