// Vocabularies for tests: read from a GGUF file, or made up.
#pragma once
#include "runtime/tokenizer/Tokenizer.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace vetro::test {

/// The bytes of a GGUF file and what it says of its tokenizer. A small reader of its own, so that
/// this program needs nothing but the tokenizer; sound files only.
struct VocabFile {
  std::string bytes;
  VocabData data; // refers to `bytes`

  explicit VocabFile(const std::string &path);
};

/// Tokenizer::create(), or a failed test.
std::unique_ptr<Tokenizer> load(const VocabData &data);

/// The file's name without folder and ending, of each vocabulary of the two kinds.
const std::vector<std::string> &vocabNames();
/// Its path; empty without test data.
std::string vocabPath(const std::string &name, const std::string &ending = ".gguf");

/// The first `atMost` bytes of a file: a model's tokenizer stands before its tensors.
std::string readFile(const std::string &path, size_t atMost = SIZE_MAX);

/// A byte-pair vocabulary: the 256 bytes, then `more`, merged as `merges` say.
VocabData tinyBpe(llvm::ArrayRef<llvm::StringRef> more, llvm::ArrayRef<llvm::StringRef> merges);

} // namespace vetro::test
