// The splitters that cut out one kind of character: digits, newlines, punctuation, scripts. Beside
// each stands the published regular expression that it is equal to.
#include "runtime/tokenizer/PreStages.h"
#include "runtime/tokenizer/PreCut.h"
#include "llvm/ADT/ArrayRef.h"
#include <algorithm>

namespace vetro::pre {

namespace {

struct CpRange {
  uint32_t first, last;
};

/// `ranges` are ascending.
bool inRanges(uint32_t cp, llvm::ArrayRef<CpRange> ranges) {
  const CpRange *it = std::upper_bound(ranges.begin(), ranges.end(), cp,
                                       [](uint32_t c, const CpRange &r) { return c < r.first; });
  return it != ranges.begin() && cp <= (it - 1)->last;
}

/// Character `k` is in one of `ranges`. White space never is: the expressions are matched on a
/// text whose wider spaces were replaced, as llama.cpp does.
bool in(const View &v, size_t k, llvm::ArrayRef<CpRange> ranges) {
  return v.isNot(k, kSpace) && inRanges(v.cp(k), ranges);
}

// Bicameral letters, as listed in DeepSeek LLM's expression.
constexpr CpRange kCasedLetters[] = {
    {0x41, 0x5A},       {0x61, 0x7A},       {0xB5, 0xB5},       {0xC0, 0xD6},
    {0xD8, 0xF6},       {0xF8, 0x1BA},      {0x1BC, 0x1BF},     {0x1C4, 0x293},
    {0x295, 0x2AF},     {0x370, 0x373},     {0x376, 0x376},     {0x377, 0x377},
    {0x37B, 0x37D},     {0x37F, 0x37F},     {0x386, 0x386},     {0x388, 0x38A},
    {0x38C, 0x38C},     {0x38E, 0x3A1},     {0x3A3, 0x3F5},     {0x3F7, 0x481},
    {0x48A, 0x52F},     {0x531, 0x556},     {0x10A0, 0x10C5},   {0x13A0, 0x13F5},
    {0x13F8, 0x13FD},   {0x1C90, 0x1CBA},   {0x1CBD, 0x1CBF},   {0x1D00, 0x1D2B},
    {0x1D6B, 0x1D77},   {0x1D79, 0x1D9A},   {0x1E00, 0x1F15},   {0x1F18, 0x1F1D},
    {0x1F20, 0x1F45},   {0x1F48, 0x1F4D},   {0x1F50, 0x1F57},   {0x1F59, 0x1F59},
    {0x1F5B, 0x1F5B},   {0x1F5D, 0x1F5D},   {0x1F5F, 0x1F7D},   {0x1F80, 0x1FB4},
    {0x1FB6, 0x1FBC},   {0x1FBE, 0x1FBE},   {0x1FC2, 0x1FC4},   {0x1FC6, 0x1FCC},
    {0x1FD0, 0x1FD3},   {0x1FD6, 0x1FDB},   {0x1FE0, 0x1FEC},   {0x1FF2, 0x1FF4},
    {0x1FF6, 0x1FFC},   {0x2102, 0x2102},   {0x2107, 0x2107},   {0x210A, 0x2113},
    {0x2115, 0x2115},   {0x2119, 0x211D},   {0x2124, 0x2124},   {0x2126, 0x2126},
    {0x2128, 0x2128},   {0x212A, 0x212D},   {0x212F, 0x2134},   {0x2139, 0x2139},
    {0x213C, 0x213F},   {0x2145, 0x2149},   {0x214E, 0x214E},   {0x2183, 0x2183},
    {0x2184, 0x2184},   {0x2C00, 0x2C7B},   {0x2C7E, 0x2CE4},   {0x2CEB, 0x2CEE},
    {0x2CF2, 0x2CF2},   {0x2CF3, 0x2CF3},   {0xA640, 0xA66D},   {0xA680, 0xA69B},
    {0xA722, 0xA76F},   {0xA771, 0xA787},   {0xA78B, 0xA78E},   {0xAB70, 0xABBF},
    {0xFB00, 0xFB06},   {0xFB13, 0xFB17},   {0xFF21, 0xFF3A},   {0xFF41, 0xFF5A},
    {0x10400, 0x1044F}, {0x104B0, 0x104D3}, {0x104D8, 0x104FB}, {0x10C80, 0x10CB2},
    {0x10CC0, 0x10CF2}, {0x118A0, 0x118DF}, {0x1E900, 0x1E943}};

constexpr CpRange kWidePunctuation[] = {{0x21, 0x2F},     {0x3A, 0x7E},     {0x2018, 0x201F},
                                        {0x3000, 0x3002}, {0xFF01, 0xFF0F}, {0xFF1A, 0xFF5E}};
constexpr CpRange kDeepseekCjk[] = {{0x0800, 0x9FA5}, {0xAC00, 0xD7FF}};
constexpr CpRange kChineseAndKana[] = {{0x3040, 0x30FF}, {0x4E00, 0x9FA5}};
// AFMoE's list holds U+F900-U+FAFF; in llama.cpp its first character is the look-alike U+8C48, so
// that everything from there on is in it.
constexpr CpRange kAsianScripts[] = {{0x0E40, 0x0EFF}, {0x1000, 0x109F}, {0x1100, 0x11FF},
                                     {0x1780, 0x17FF}, {0x2F00, 0x2FDF}, {0x3040, 0x30FF},
                                     {0x3400, 0x4DBF}, {0x4E00, 0xFAFF}, {0xFF65, 0xFF9F}};
constexpr CpRange kHangul[] = {{0x3131, 0x318E}, {0xAC00, 0xD7A3}};
constexpr CpRange kCjkPunctuation[] = {{0x2014, 0x2014}, {0x2018, 0x2019}, {0x201C, 0x201D},
                                       {0x2026, 0x2026}, {0x3001, 0x303F}, {0xFE30, 0xFE4F},
                                       {0xFF01, 0xFF01}, {0xFF0C, 0xFF0C}, {0xFF1A, 0xFF1B}};
constexpr CpRange kBopomofo[] = {{0x3105, 0x312F}};

/// X+ with X given by its ranges.
size_t rangeRun(const View &v, size_t i, llvm::ArrayRef<CpRange> ranges) {
  return runLength(i, [&](size_t k) { return in(v, k, ranges); });
}

/// \s?X+ with X given by `pred(index)`.
template <class Pred> size_t spaced(const View &v, size_t i, Pred pred) {
  size_t space = v.is(i, kSpace);
  size_t n = runLength(i + space, pred);
  return n > 0 ? space + n : 0;
}

/// [\p{P}$+<=>^~|]+, and the backtick where `backtick` says so.
size_t symbolRun(const View &v, size_t i, bool backtick) {
  return runLength(i, [&](size_t k) {
    return v.is(k, kPunct) || (v.cp(k) < 128 && v.is(k, kSymbol) && (backtick || v.cp(k) != '`'));
  });
}

bool isDigit(const View &v, size_t k) { return v.cp(k) >= '0' && v.cp(k) <= '9'; }

/// The length of `word` if it stands at `i`, else 0.
size_t literal(const View &v, size_t i, llvm::StringRef word) {
  for (size_t k = 0; k < word.size(); ++k)
    if (v.cp(i + k) != static_cast<unsigned char>(word[k]))
      return 0;
  return word.size();
}

} // namespace

// A splitter whose matcher is the expression `length`, of the view `v` and the place `i`.
#define SPLITTER(name, length)                                                                     \
  void name(const Chars &text, size_t begin, size_t end, std::vector<size_t> &ends) {              \
    cut(text, begin, end, ends,                                                                    \
        []([[maybe_unused]] View &v, size_t i) -> size_t { return length; });                      \
  }

// \p{N}   \p{N}+   \p{N}{1,3}   [0-9][0-9][0-9]
SPLITTER(eachNumber, v.is(i, kNumber))
SPLITTER(numberRuns, runLength(i, [&](size_t k) { return v.is(k, kNumber); }))
SPLITTER(numbersByThree, runLength(i, [&](size_t k) { return v.is(k, kNumber); }, 3))
SPLITTER(asciiDigitTriples, isDigit(v, i) && isDigit(v, i + 1) && isDigit(v, i + 2) ? 3 : 0)
// [\r\n]   [^\n]+|[\n]+   \s+$
SPLITTER(eachNewline, v.isNewline(i))
SPLITTER(newlineRuns, runLength(i, [&](size_t k) {
           return k < v.end && (v.cp(k) == '\n') == (v.cp(i) == '\n');
         }))
SPLITTER(trailingSpace, v.is(i, kSpace) && v.spaceRun(i).end == v.end ? v.end - i : 0)
// \s?\p{L}+   \s?[cased letters]+   \s?\p{P}+   \s?[!-/:-~！-／：-～‘-‟　-。]+
SPLITTER(spacedLetters, spaced(v, i, [&](size_t k) { return v.is(k, kLetter); }))
SPLITTER(spacedCasedLetters, spaced(v, i, [&](size_t k) { return in(v, k, kCasedLetters); }))
SPLITTER(spacedPunctuation, spaced(v, i, [&](size_t k) { return v.is(k, kPunct); }))
SPLITTER(spacedWidePunctuation, spaced(v, i, [&](size_t k) { return in(v, k, kWidePunctuation); }))
// [\p{P}\$\+<=>\^~\|`]+, with and without the backtick; [\p{P}!-/:-@\[-`{-~]
SPLITTER(falconPunctuation, symbolRun(v, i, true))
SPLITTER(defaultPunctuation, symbolRun(v, i, false))
SPLITTER(eachPunctuation, v.is(i, kPunct) || (v.cp(i) < 128 && v.is(i, kSymbol)))
// [一-龥ࠀ-一가-퟿]+   [一-龥぀-ゟ゠-ヿ]+   AFMoE's list of Asian scripts
SPLITTER(deepseekCjk, rangeRun(v, i, kDeepseekCjk))
SPLITTER(chineseAndKana, rangeRun(v, i, kChineseAndKana))
SPLITTER(asianScripts, rangeRun(v, i, kAsianScripts))
// [\t\n]|    |  (four spaces, two spaces)
SPLITTER(chameleonSpaces, v.cp(i) == '\t' || v.cp(i) == '\n' ? 1
                          : literal(v, i, "    ")            ? 4
                                                             : literal(v, i, "  "))
#undef SPLITTER

// [가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+
void youtuScripts(const Chars &text, size_t begin, size_t end, std::vector<size_t> &ends) {
  cut(text, begin, end, ends, [](View &v, size_t i) -> size_t {
    for (llvm::ArrayRef<CpRange> script :
         {llvm::ArrayRef<CpRange>(kHangul), llvm::ArrayRef<CpRange>(kCjkPunctuation),
          llvm::ArrayRef<CpRange>(kBopomofo), llvm::ArrayRef<CpRange>(kChineseAndKana)})
      if (size_t n = rangeRun(v, i, script))
        return n;
    return 0;
  });
}

// <sentinel:[0-9]+>
void chameleonSentinels(const Chars &text, size_t begin, size_t end, std::vector<size_t> &ends) {
  cut(text, begin, end, ends, [](View &v, size_t i) -> size_t {
    size_t n = literal(v, i, "<sentinel:");
    size_t digits = n > 0 ? runLength(i + n, [&](size_t k) { return isDigit(v, k); }) : 0;
    return digits > 0 && v.cp(i + n + digits) == '>' ? n + digits + 1 : 0;
  });
}

// (IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z
void chameleonImages(const Chars &text, size_t begin, size_t end, std::vector<size_t> &ends) {
  cut(text, begin, end, ends, [](View &v, size_t i) -> size_t {
    size_t n = literal(v, i, "IMGIMG");
    auto code = [&](size_t k) { return v.cp(k) >= 'A' && v.cp(k) <= 'I'; };
    size_t letters = n > 0 ? runLength(i + n, code, 4) : 0;
    return letters > 0 && v.cp(i + n + letters) == 'Z' ? n + letters + 1 : 0;
  });
}

/// Groups of three from the right in each run of \p{N}: 1234567 is 1 234 567. What stands before a
/// run stays with its first group, as in llama.cpp; the stages that follow part them.
void numbersFromRight(const Chars &text, size_t begin, size_t end, std::vector<size_t> &ends) {
  View v(text, end);
  size_t done = begin;
  for (size_t i = begin; i < end;) {
    size_t n = runLength(i, [&](size_t k) { return v.is(k, kNumber); });
    for (size_t k = n % 3 > 0 ? n % 3 : 3; k <= n; k += 3)
      ends.push_back(done = i + k);
    i += std::max<size_t>(n, 1);
  }
  if (end > done)
    ends.push_back(end);
}

// (?=(\d{3})+(?!\d)): before each group of three ASCII digits, counted from the right
void digitsFromRight(const Chars &text, size_t begin, size_t end, std::vector<size_t> &ends) {
  View v(text, end);
  size_t done = begin;
  for (size_t i = begin; i < end;) {
    size_t n = runLength(i, [&](size_t k) { return isDigit(v, k); });
    for (size_t k = n % 3; k < n; k += 3)
      if (i + k > done)
        ends.push_back(done = i + k);
    i += std::max<size_t>(n, 1);
  }
  if (end > done)
    ends.push_back(end);
}

} // namespace vetro::pre
