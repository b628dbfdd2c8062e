// The splitters that cut a text into words in one go. Most are one matcher driven by a row of
// rules: contraction, letters, numbers, punctuation, newlines, white space, in this order; the
// first alternative that matches wins, as in the published regular expressions.
#include "runtime/tokenizer/PreCut.h"
#include "runtime/tokenizer/PreStages.h"
#include <algorithm>

namespace vetro::pre {

namespace {

/// 's 't 'm 'd 're 've 'll, in which letter case.
enum class Contraction { None, Lower, AnyCase };

enum class Letters {
  Plain,          // \p{L}+
  WithMarks,      // [\p{L}\p{M}]+
  Cased,          // U*L+|U+L*, U and L being letters but a-z, letters but A-Z
  CasedWithMarks, // the same, marks counting as letters
  Phrase,         // words with single spaces between them
  NotHan,         // letters but Chinese ones, which form runs of their own
};

/// What may follow punctuation and still belong to it.
enum class Tail { None, Newlines, NewlinesSlashes, OneNewlineSlash };

struct WordRules {
  Contraction before = Contraction::None; // as a word of its own
  Contraction after = Contraction::None;  // at a word's end
  bool spacePrefix =
      false; // " ?" before letters and numbers, else [^\r\n\p{L}\p{N}]? before letters
  Letters letters = Letters::Plain;
  size_t maxDigits = SIZE_MAX;                    // longest run of \p{N} that is one word
  unsigned notPunct = kLetter | kNumber | kSpace; // punctuation is everything else
  Tail tail = Tail::None;
  bool newlines = true;     // \s*[\r\n]+ before other white space
  bool spaceBlocks = false; // white space in blocks of 512, 256 ... 4, 2, 1
};

size_t contraction(const View &v, size_t i, Contraction kind) {
  if (kind == Contraction::None || v.cp(i) != '\'')
    return 0;
  auto fold = [&](uint32_t c) {
    return kind == Contraction::AnyCase && c >= 'A' && c <= 'Z' ? c + 32 : c;
  };
  uint32_t a = fold(v.cp(i + 1)), b = fold(v.cp(i + 2));
  if (a == 's' || a == 't' || a == 'm' || a == 'd')
    return 2;
  return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? 3 : 0;
}

/// U*L+ (first) or U+L* of the letters at `i`. A letter without case in ASCII is both U and L, so
/// U* may have to give letters back: up to the last one that is an L.
size_t casedLetters(const View &v, size_t i, unsigned letter, bool first) {
  auto upper = [&](size_t k) { return v.is(k, letter) && !(v.cp(k) >= 'a' && v.cp(k) <= 'z'); };
  auto lower = [&](size_t k) { return v.is(k, letter) && !(v.cp(k) >= 'A' && v.cp(k) <= 'Z'); };
  size_t nUpper = runLength(i, upper);
  size_t nLower = runLength(i + nUpper, lower);
  if (!first)
    return nUpper > 0 ? nUpper + nLower : 0;
  if (nLower > 0)
    return nUpper + nLower;
  while (nUpper > 0 && !lower(i + nUpper - 1))
    --nUpper;
  return nUpper;
}

/// \p{L}\p{M}* with single spaces allowed between such groups.
size_t phrase(const View &v, size_t i) {
  if (!v.is(i, kLetter))
    return 0;
  size_t at = i + 1;
  for (;; ++at) {
    if (v.cp(at) == ' ' && v.is(at + 1, kLetter))
      ++at;
    else if (!v.is(at, kLetter | kMark))
      return at - i;
  }
}

size_t letterRun(const View &v, size_t i, Letters kind, bool first) {
  switch (kind) {
  case Letters::Plain:
    return runLength(i, [&](size_t k) { return v.is(k, kLetter); });
  case Letters::WithMarks:
    return runLength(i, [&](size_t k) { return v.is(k, kLetter | kMark); });
  case Letters::Cased:
    return casedLetters(v, i, kLetter, first);
  case Letters::CasedWithMarks:
    return casedLetters(v, i, kLetter | kMark, first);
  case Letters::Phrase:
    return phrase(v, i);
  case Letters::NotHan:
    return runLength(i, [&](size_t k) { return v.is(k, kLetter) && !isHan(v.cp(k)); });
  }
  return 0;
}

size_t word(const View &v, size_t i, const WordRules &rules) {
  bool prefix =
      rules.spacePrefix ? v.cp(i) == ' ' : v.isNot(i, kLetter | kNumber) && !v.isNewline(i);
  for (bool first : {true, false}) {
    if (prefix)
      if (size_t n = letterRun(v, i + 1, rules.letters, first))
        return 1 + n;
    if (size_t n = letterRun(v, i, rules.letters, first))
      return n;
  }
  return 0;
}

size_t number(const View &v, size_t i, const WordRules &rules) {
  size_t space = rules.spacePrefix && v.cp(i) == ' ';
  size_t n = runLength(i + space, [&](size_t k) { return v.is(k, kNumber); }, rules.maxDigits);
  return n > 0 ? space + n : 0;
}

size_t punctuation(const View &v, size_t i, const WordRules &rules) {
  size_t at = i + (v.cp(i) == ' ');
  size_t n = runLength(at, [&](size_t k) { return v.isNot(k, rules.notPunct); });
  if (n == 0)
    return 0;
  at += n;
  bool slash = rules.tail == Tail::NewlinesSlashes || rules.tail == Tail::OneNewlineSlash;
  size_t limit = rules.tail == Tail::None ? 0 : rules.tail == Tail::OneNewlineSlash ? 1 : SIZE_MAX;
  at += runLength(at, [&](size_t k) { return v.isNewline(k) || (slash && v.cp(k) == '/'); }, limit);
  return at - i;
}

/// \s*[\r\n]+|\s+(?!\S)|\s+: up to the last newline; else all but the last, which belongs to the
/// next word; else all.
size_t space(View &v, size_t i, bool newlines, bool blocks) {
  if (!v.is(i, kSpace))
    return 0;
  const View::SpaceRun &run = v.spaceRun(i);
  if (newlines && run.newlineEnd > i)
    return run.newlineEnd - i;
  size_t n = run.end - i;
  size_t free = run.end < v.end ? n - 1 : n; // those not followed by \S
  if (!blocks)
    return free > 0 ? free : n;
  for (size_t block = 512; block >= 4; block /= 2)
    if (free >= block)
      return block;
  return std::clamp<size_t>(free, 1, 2);
}

size_t matchWord(View &v, size_t i, const WordRules &rules) {
  if (rules.letters == Letters::NotHan)
    if (size_t n = runLength(i, [&](size_t k) { return v.cp(k) != View::kNone && isHan(v.cp(k)); }))
      return n;
  if (size_t n = contraction(v, i, rules.before))
    return n;
  if (size_t n = word(v, i, rules))
    return n + contraction(v, i + n, rules.after);
  if (size_t n = number(v, i, rules))
    return n;
  if (size_t n = punctuation(v, i, rules))
    return n;
  return space(v, i, rules.newlines, rules.spaceBlocks);
}

/// One alternative of deepseek3Words after another.
size_t matchDeepseek3(View &v, size_t i) {
  auto letter = [&](size_t k) { return v.is(k, kLetter | kMark); };
  auto symbol = [&](size_t k) { return v.is(k, kPunct | kSymbol); };
  auto ascii = [&](size_t k) { return v.cp(k) < 128 && v.is(k, kLetter); };
  if (v.cp(i) < 128 && v.is(i, kPunct | kSymbol)) // [!-/:-@\[-`{-~][A-Za-z]+
    if (size_t n = runLength(i + 1, ascii))
      return 1 + n;
  if (v.cp(i) != View::kNone && !v.isNewline(i) && !v.is(i, kLetter) && !symbol(i))
    if (size_t n = runLength(i + 1, letter)) // [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+
      return 1 + n;
  if (size_t n = runLength(i, letter))
    return n;
  size_t at = i + (v.cp(i) == ' ');
  if (size_t n = runLength(at, symbol)) { //  ?[\p{P}\p{S}]+[\r\n]*
    at += n;
    return at + runLength(at, [&](size_t k) { return v.isNewline(k); }) - i;
  }
  return space(v, i, true, false);
}

constexpr WordRules kGpt2{.before = Contraction::Lower, .spacePrefix = true, .newlines = false};
constexpr WordRules kLlama3{.before = Contraction::AnyCase, .maxDigits = 3, .tail = Tail::Newlines};
constexpr WordRules kQwen2{.before = Contraction::AnyCase, .maxDigits = 1, .tail = Tail::Newlines};
constexpr WordRules kQwen35{.before = Contraction::AnyCase,
                            .letters = Letters::WithMarks,
                            .maxDigits = 1,
                            .notPunct = kLetter | kMark | kNumber | kSpace,
                            .tail = Tail::Newlines};
constexpr WordRules kGpt4o{.after = Contraction::AnyCase,
                           .letters = Letters::Cased,
                           .maxDigits = 3,
                           .tail = Tail::NewlinesSlashes};
constexpr WordRules kGranite{.after = Contraction::AnyCase,
                             .letters = Letters::CasedWithMarks,
                             .maxDigits = 3,
                             .tail = Tail::NewlinesSlashes};
constexpr WordRules kTekken{
    .letters = Letters::Cased, .maxDigits = 1, .tail = Tail::NewlinesSlashes};
// Published with \p{Lu} and \p{Ll}; llama.cpp takes each for \p{L}, so case plays no part.
constexpr WordRules kAya{.after = Contraction::AnyCase,
                         .letters = Letters::WithMarks,
                         .maxDigits = 3,
                         .tail = Tail::NewlinesSlashes};
constexpr WordRules kYoutu{.after = Contraction::AnyCase,
                           .letters = Letters::WithMarks,
                           .maxDigits = 1,
                           .tail = Tail::NewlinesSlashes};
constexpr WordRules kJais2{
    .before = Contraction::AnyCase, .maxDigits = 3, .tail = Tail::Newlines, .spaceBlocks = true};
constexpr WordRules kBailing{
    .before = Contraction::AnyCase, .maxDigits = 1, .tail = Tail::Newlines};
constexpr WordRules kSeedCoder{.before = Contraction::AnyCase, .maxDigits = 1};
constexpr WordRules kMinicpm{.before = Contraction::AnyCase, .tail = Tail::Newlines};
constexpr WordRules kExaoneMoe{.before = Contraction::AnyCase,
                               .letters = Letters::Phrase,
                               .maxDigits = 1,
                               .tail = Tail::OneNewlineSlash};
constexpr WordRules kKimi{.after = Contraction::AnyCase,
                          .letters = Letters::NotHan,
                          .maxDigits = 3,
                          .tail = Tail::Newlines};

/// The characters that Bloom's words stop at: [(\s|.,!?…。，、।۔،)].
bool stopsBloom(const View &v, size_t i) {
  constexpr uint32_t kStops[] = {'(',    '|',    '.',    ',',    '!',    '?',   ')',
                                 0x2026, 0x3002, 0xFF0C, 0x3001, 0x0964, 0x6D4, 0x060C};
  return v.cp(i) == View::kNone || v.is(i, kSpace) ||
         std::find(std::begin(kStops), std::end(kStops), v.cp(i)) != std::end(kStops);
}

} // namespace

#define WORDS(name, rules)                                                                         \
  void name(const Chars &text, size_t begin, size_t end, std::vector<size_t> &ends) {              \
    cut(text, begin, end, ends, [](View &v, size_t i) { return matchWord(v, i, rules); });         \
  }
WORDS(gpt2Words, kGpt2)
WORDS(llama3Words, kLlama3)
WORDS(qwen2Words, kQwen2)
WORDS(qwen35Words, kQwen35)
WORDS(gpt4oWords, kGpt4o)
WORDS(graniteWords, kGranite)
WORDS(tekkenWords, kTekken)
WORDS(ayaWords, kAya)
WORDS(youtuWords, kYoutu)
WORDS(jais2Words, kJais2)
WORDS(bailingWords, kBailing)
WORDS(seedCoderWords, kSeedCoder)
WORDS(minicpmWords, kMinicpm)
WORDS(exaoneMoeWords, kExaoneMoe)
WORDS(kimiWords, kKimi)
#undef WORDS

void deepseek3Words(const Chars &text, size_t begin, size_t end, std::vector<size_t> &ends) {
  cut(text, begin, end, ends, matchDeepseek3);
}

void bloomWords(const Chars &text, size_t begin, size_t end, std::vector<size_t> &ends) {
  cut(text, begin, end, ends, [](View &v, size_t i) -> size_t {
    size_t space = v.cp(i) == ' ';
    size_t n = runLength(i + space, [&](size_t k) { return !stopsBloom(v, k); });
    return n > 0 ? space + n : 0;
  });
}

} // namespace vetro::pre
