// A small but real tokenizer for random models: bytes, and pieces learned from a page of English.
// Every text survives encoding and decoding (SentencePiece's kind reads U+2581 as a space, always).
#pragma once
#include "frontends/gguf/Write.h"

namespace vetro {

/// Adds the keys `tokenizer.ggml.*` of a vocabulary of `size` tokens (at least 512). `model`
/// "gpt2": byte-pair merges by rank; any other: SentencePiece's kind, under that name. What the
/// pieces do not fill is tokens of type "unused". Both kinds have the same first three tokens:
/// <unk>, <s> (put before each text), </s> (ends a generation).
void addTinyVocab(gguf::Writer &writer, llvm::StringRef model, int64_t size);

} // namespace vetro
