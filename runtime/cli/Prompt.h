// The prompt of a command: -p, -f or --ids; what is edited while it runs; the text and the
// tokenizer of commands that run nothing.
#pragma once

#include "runtime/cli/Command.h"
#include "runtime/engine/Edit.h"
#include "runtime/engine/Vocabulary.h"

namespace vetro::cli {

struct PromptOptions {
  std::string text, file, ids;
  CLI::Option *textOption = nullptr, *fileOption = nullptr, *idsOption = nullptr;
  bool parseSpecial = false;
};

/// Adds -p/--prompt, -f/--file and --parse-special.
void addTextOptions(CLI::App &command, PromptOptions &options);
/// Adds those and --ids.
void addPromptOptions(CLI::App &command, PromptOptions &options);

/// What needs no model: exactly one of the three is given, and a file can be read (its bytes are
/// then in `text`). Without --ids among the options, none means stdin.
llvm::Error readPrompt(PromptOptions &options);

/// The token ids of a prompt that readPrompt() took: ids as given, text encoded with the special
/// tokens that the model file asks for. Errors: malformed ids or ids outside the vocabulary, no
/// token at all.
llvm::Expected<std::vector<int32_t>> promptIds(const PromptOptions &options,
                                               const Tokenizer &tokenizer);

/// "1,2,3" (or "[1, 2, 3]") to ids. Errors: what is no id of the vocabulary.
llvm::Expected<std::vector<int32_t>> parseIds(llvm::StringRef text, const Tokenizer &tokenizer);

/// The tokenizer of a file that need not hold more than a vocabulary; nothing else is kept of it.
llvm::Expected<std::unique_ptr<Tokenizer>> openTokenizer(ModelOptions &options);

/// The same with the vocabulary of a file that is not open; no text: no ids.
llvm::Expected<std::vector<int32_t>> parseIds(llvm::StringRef text, ModelOptions &options);

/// Adds -e/--edit (runtime/engine/Edit.h).
void addEditOption(CLI::App &command, std::vector<std::string> &edits);
/// Reads them. Error: parseEdit's.
llvm::Expected<std::vector<Edit>> readEdits(llvm::ArrayRef<std::string> texts);

/// All bytes of a file, "-" for stdin.
llvm::Expected<std::string> readWhole(llvm::StringRef path);

} // namespace vetro::cli
