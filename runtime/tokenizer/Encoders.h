// The two algorithms behind Tokenizer::encode(), for one stretch of text without special tokens.
// Internal to this folder.
#pragma once
#include "runtime/tokenizer/Explain.h"
#include "runtime/tokenizer/Vocab.h"

namespace vetro {

/// The alphabet of byte-level BPE: a printable character for each byte, such that no token holds a
/// space or a control character. 0x20 is U+0120, 0x0A is U+010A.
uint32_t byteToAlphabet(uint8_t byte);
/// The byte of a character of the alphabet, or -1.
int alphabetToByte(uint32_t cp);

/// Appends the ids of `text` to `out`. `base` is where `text` begins in the whole text, for
/// `explain`, which may be null.
void encodeBpe(const Vocab &vocab, llvm::StringRef text, size_t base, std::vector<int32_t> &out,
               Explain *explain);
/// The same for SentencePiece; `prefix`: with a space before it.
void encodeSpm(const Vocab &vocab, llvm::StringRef text, size_t base, bool prefix,
               std::vector<int32_t> &out, Explain *explain);

/// `text` with each space written as U+2581.
std::string escapeSpaces(llvm::StringRef text);

} // namespace vetro
