// The splitters that rows of the pre-tokenizer table are made of. Each is named after what it cuts;
// the regular expression it is equal to stands beside it in PreStages.cpp.
#pragma once
#include "runtime/tokenizer/PreTokenizer.h"

namespace vetro::pre {

// Words, numbers, punctuation and white space in one go (see WordRules in PreStages.cpp).
void gpt2Words(const Chars &, size_t, size_t, std::vector<size_t> &);
void llama3Words(const Chars &, size_t, size_t, std::vector<size_t> &);
void qwen2Words(const Chars &, size_t, size_t, std::vector<size_t> &);
void qwen35Words(const Chars &, size_t, size_t, std::vector<size_t> &);
void gpt4oWords(const Chars &, size_t, size_t, std::vector<size_t> &);
void graniteWords(const Chars &, size_t, size_t, std::vector<size_t> &);
void tekkenWords(const Chars &, size_t, size_t, std::vector<size_t> &);
void ayaWords(const Chars &, size_t, size_t, std::vector<size_t> &);
void youtuWords(const Chars &, size_t, size_t, std::vector<size_t> &);
void jais2Words(const Chars &, size_t, size_t, std::vector<size_t> &);
void bailingWords(const Chars &, size_t, size_t, std::vector<size_t> &);
void seedCoderWords(const Chars &, size_t, size_t, std::vector<size_t> &);
void minicpmWords(const Chars &, size_t, size_t, std::vector<size_t> &);
void exaoneMoeWords(const Chars &, size_t, size_t, std::vector<size_t> &);
void kimiWords(const Chars &, size_t, size_t, std::vector<size_t> &);
void deepseek3Words(const Chars &, size_t, size_t, std::vector<size_t> &);
void bloomWords(const Chars &, size_t, size_t, std::vector<size_t> &);

// Digits.
void eachNumber(const Chars &, size_t, size_t, std::vector<size_t> &);
void numberRuns(const Chars &, size_t, size_t, std::vector<size_t> &);
void numbersByThree(const Chars &, size_t, size_t, std::vector<size_t> &);
void asciiDigitTriples(const Chars &, size_t, size_t, std::vector<size_t> &);
void numbersFromRight(const Chars &, size_t, size_t, std::vector<size_t> &);
void digitsFromRight(const Chars &, size_t, size_t, std::vector<size_t> &);

// Everything else.
void eachNewline(const Chars &, size_t, size_t, std::vector<size_t> &);
void newlineRuns(const Chars &, size_t, size_t, std::vector<size_t> &);
void trailingSpace(const Chars &, size_t, size_t, std::vector<size_t> &);
void spacedLetters(const Chars &, size_t, size_t, std::vector<size_t> &);
void spacedCasedLetters(const Chars &, size_t, size_t, std::vector<size_t> &);
void spacedPunctuation(const Chars &, size_t, size_t, std::vector<size_t> &);
void spacedWidePunctuation(const Chars &, size_t, size_t, std::vector<size_t> &);
void falconPunctuation(const Chars &, size_t, size_t, std::vector<size_t> &);
void defaultPunctuation(const Chars &, size_t, size_t, std::vector<size_t> &);
void deepseekCjk(const Chars &, size_t, size_t, std::vector<size_t> &);
void chineseAndKana(const Chars &, size_t, size_t, std::vector<size_t> &);
void asianScripts(const Chars &, size_t, size_t, std::vector<size_t> &);
void youtuScripts(const Chars &, size_t, size_t, std::vector<size_t> &);
void chameleonSentinels(const Chars &, size_t, size_t, std::vector<size_t> &);
void chameleonImages(const Chars &, size_t, size_t, std::vector<size_t> &);
void chameleonSpaces(const Chars &, size_t, size_t, std::vector<size_t> &);
void eachPunctuation(const Chars &, size_t, size_t, std::vector<size_t> &);

} // namespace vetro::pre
