// What is known of tokens only by their text: end of turn, fill-in-the-middle, end of generation.
// Files often lack these keys; the lists are those of llama.cpp (src/llama-vocab.cpp).
#include "runtime/tokenizer/Vocab.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::StringRef;

namespace vetro {

namespace {

struct KnownNames {
  int32_t SpecialIds::*id;
  std::vector<StringRef> names; // the first one present is taken
};

/// Control tokens that files give another type.
void makeControl(Vocab &vocab, int32_t id) {
  if (vocab.attrs[id] & kControl)
    return;
  vocab.warnings.push_back(
      llvm::formatv("token {0} {1} looks like a control token but is not typed as one; it is "
                    "treated as one",
                    id, quoted(vocab.texts.text(id))));
  vocab.attrs[id] |= kControl;
}

void guessByName(Vocab &vocab) {
  const KnownNames kKnown[] = {
      {&SpecialIds::eot,
       {"<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>",
        "<EOT>", "_<EOT>", "[EOT]", "<｜end▁of▁sentence｜>", "<end_of_utterance>"}},
      {&SpecialIds::eom, {"<|eom_id|>"}},
      {&SpecialIds::fimPrefix,
       {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>",
        "<|code_prefix|>", "<|prefix|>"}},
      {&SpecialIds::fimSuffix,
       {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>",
        "<|code_suffix|>", "<|suffix|>"}},
      {&SpecialIds::fimMiddle,
       {"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>",
        "<|code_middle|>", "<|middle|>"}},
      {&SpecialIds::fimPad, {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"}},
      {&SpecialIds::fimRepo,
       {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}},
      {&SpecialIds::fimSeparator, {"<|file_sep|>"}},
  };
  for (const KnownNames &known : kKnown)
    for (StringRef name : known.names) {
      int32_t id = vocab.texts.find(name);
      if (vocab.special.*known.id >= 0 || id < 0)
        continue;
      vocab.special.*known.id = id;
      makeControl(vocab, id);
    }
}

void collectEog(Vocab &vocab) {
  auto add = [&](int32_t id) {
    if (id >= 0 && !llvm::is_contained(vocab.eog, id))
      vocab.eog.push_back(id);
  };
  for (StringRef name : {"<|eot_id|>",
                         "<|im_end|>",
                         "<|end|>",
                         "<|return|>",
                         "<|call|>",
                         "<|flush|>",
                         "<|calls|>",
                         "<end_of_turn>",
                         "<|endoftext|>",
                         "</s>",
                         "<|eom_id|>",
                         "<EOT>",
                         "_<EOT>",
                         "[EOT]",
                         "[EOS]",
                         "<|end_of_text|>",
                         "<end_of_utterance>",
                         "<eos>",
                         "<turn|>",
                         "<|tool_response>",
                         "<｜end▁of▁sentence｜>",
                         "[e~["}) {
    int32_t id = vocab.texts.find(name);
    add(id);
    if (id >= 0)
      makeControl(vocab, id);
  }
  const SpecialIds &ids = vocab.special;
  for (int32_t id : {ids.fimPad, ids.fimRepo, ids.fimSeparator, ids.eos, ids.eot, ids.eom})
    add(id);
}

/// Vocabularies in which a well-known name means something else.
void applyExceptions(Vocab &vocab) {
  auto find = [&](StringRef name) { return vocab.texts.find(name); };
  for (StringRef name : {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"})
    if (int32_t id = find(name); id >= 0)
      vocab.attrs[id] = kUserDefined; // always printed
  auto drop = [&](StringRef name, uint8_t attr) {
    if (int32_t id = find(name); id >= 0 && llvm::is_contained(vocab.eog, id)) {
      llvm::erase(vocab.eog, id);
      vocab.attrs[id] = attr;
    }
  };
  bool call = find("<|call|>") >= 0 || find("<|calls|>") >= 0;
  if (call && (find("<|return|>") >= 0 || find("<|flush|>") >= 0))
    drop("<|end|>", kUserDefined); // ends a message, not the answer
  if (find("<|tool_response>") >= 0)
    drop("</s>", kNormal);
  llvm::sort(vocab.eog);
}

/// White space that tokens eat: known by the model's name only.
void setStripping(Vocab &vocab, StringRef pre, StringRef modelName) {
  std::string lower = modelName.lower();
  auto set = [&](StringRef name, uint8_t attr) {
    if (int32_t id = vocab.texts.find(name); id >= 0)
      vocab.attrs[id] |= attr;
  };
  if (pre.contains("jina-v2-de") || pre.contains("jina-v2-es") || pre.contains("jina-v2-code"))
    return set("<mask>", kStripLeft);
  if (StringRef(lower).contains("phi-3") || StringRef(lower).contains("phi3")) {
    for (uint8_t &attr : vocab.attrs)
      if (attr & (kControl | kUserDefined | kUnknown))
        attr |= kStripRight;
    set("</s>", kStripRight);
    for (StringRef name : {"<unk>", "<s>", "<|endoftext|>"})
      if (int32_t id = vocab.texts.find(name); id >= 0)
        vocab.attrs[id] &= ~kStripRight;
  } else if (StringRef(lower).contains("modern-bert")) {
    set("[MASK]", kStripLeft);
  }
}

} // namespace

void guessSpecialIds(Vocab &vocab, StringRef pre, StringRef modelName) {
  guessByName(vocab);
  collectEog(vocab);
  applyExceptions(vocab);
  setStripping(vocab, pre, modelName);
}

} // namespace vetro
