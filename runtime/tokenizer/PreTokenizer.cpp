// The table of pre-tokenizers, and its lookup. Names and behaviours are those of llama.cpp
// (src/llama-vocab.cpp), whose ids are the measure; a behaviour is a list of splitters.
#include "runtime/tokenizer/PreTokenizer.h"
#include "runtime/tokenizer/PreStages.h"
#include "llvm/ADT/SmallVector.h"

using llvm::StringRef;

namespace vetro {

using namespace pre;

// clang-format off
static const PreTokenizer kTable[] = {
    {.names = "default", .stages = {defaultPunctuation, gpt2Words, numberRuns, asciiDigitTriples}},
    {.names = "gpt-2 phi-2 jina-es jina-de jina-v2-es jina-v2-de gigachat a.x-4.0 mellum modern-bert "
              "exaone4 mpt olmo jais trillion granite-docling jina-v1-en jina-v2-code roberta-bpe",
     .stages = {gpt2Words}},
    {.names = "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
     .stages = {llama3Words}, .ignoreMerges = true, .addBos = true},
    {.names = "dbrx smaug-bpe", .stages = {llama3Words}},
    {.names = "glm4 chatglm-bpe", .stages = {llama3Words}, .noBos = true},
    {.names = "qwen2 deepseek-r1-qwen kormo f2llmv2 megrez hunyuan solar-open grok-2 stablelm2",
     .stages = {qwen2Words}},
    {.names = "qwen35", .stages = {qwen35Words}},
    {.names = "laguna", .stages = {newlineRuns, qwen2Words}},
    {.names = "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2",
     .stages = {eachNumber, gpt2Words}},
    {.names = "gpt-4o llama4 kanana2 talkie minimax-m2", .stages = {gpt4oWords}},
    {.names = "granite-embed-multi-97m", .stages = {graniteWords}, .ignoreMerges = true},
    {.names = "tekken", .stages = {tekkenWords}, .ignoreMerges = true, .addBos = true},
    {.names = "tiny_aya cohere2moe", .stages = {numbersFromRight, ayaWords}},
    {.names = "deepseek-llm",
     .stages = {eachNewline, spacedCasedLetters, spacedWidePunctuation, trailingSpace, deepseekCjk, numberRuns}},
    {.names = "deepseek-coder",
     .stages = {eachNewline, spacedLetters, spacedPunctuation, deepseekCjk, eachNumber}},
    {.names = "deepseek-v3 hunyuan-dense joyai-llm hy_v4",
     .stages = {numbersByThree, chineseAndKana, deepseek3Words}},
    {.names = "falcon", .stages = {falconPunctuation, gpt2Words, asciiDigitTriples}},
    {.names = "poro-chat bloom gpt3-finnish", .stages = {bloomWords}},
    {.names = "viking", .stages = {bloomWords, eachNumber}},
    {.names = "bailingmoe bailingmoe2 llada-moe", .stages = {bailingWords}},
    {.names = "seed-coder", .stages = {seedCoderWords}},
    {.names = "jais-2", .stages = {jais2Words}},
    {.names = "youtu", .stages = {youtuScripts, youtuWords}, .ignoreMerges = true},
    {.names = "minicpm5", .stages = {numbersByThree, minicpmWords}, .ignoreMerges = true},
    {.names = "exaone-moe", .stages = {exaoneMoeWords}},
    {.names = "kimi-k2", .stages = {kimiWords}},
    {.names = "superbpe", .stages = {numberRuns, digitsFromRight}},
    {.names = "afmoe", .stages = {numbersFromRight, asianScripts, deepseek3Words}},
    {.names = "chameleon",
     .stages = {chameleonSentinels, chameleonImages, chameleonSpaces, eachNumber, eachPunctuation, gpt2Words},
     .addBos = true},
    {.names = "gemma4 granite-embed-multi-311m",
     .stages = {newlineRuns}, .addBos = true, .rawUtf8 = true, .forceBos = true},
    {.names = "sarvam-moe", .stages = {newlineRuns}, .rawUtf8 = true},
};
// clang-format on

const PreTokenizer *findPreTokenizer(StringRef name) {
  for (const PreTokenizer &row : kTable) {
    llvm::SmallVector<StringRef, 20> names;
    StringRef(row.names).split(names, ' ');
    for (StringRef known : names)
      if (known == name)
        return &row;
  }
  return nullptr;
}

std::string knownPreTokenizers() {
  std::string list;
  for (const PreTokenizer &row : kTable) {
    if (!list.empty())
      list += ", ";
    for (char c : StringRef(row.names))
      list += c == ' ' ? std::string(", ") : std::string(1, c);
  }
  return list;
}

std::vector<size_t> splitWords(const PreTokenizer &pre, const Chars &text) {
  std::vector<size_t> ends;
  if (text.size() > 0)
    ends.push_back(text.size());
  std::vector<size_t> next;
  for (SplitFn stage : pre.stages) {
    if (!stage)
      break;
    next.clear();
    size_t begin = 0;
    for (size_t end : ends) {
      stage(text, begin, end, next);
      begin = end;
    }
    ends.swap(next);
  }
  return ends;
}

} // namespace vetro
