// Text or ids of a prompt.
#include "runtime/cli/Prompt.h"
#include "runtime/cli/Output.h"

#include "llvm/Support/MemoryBuffer.h"
#include <unistd.h>

namespace vetro::cli {

void addTextOptions(CLI::App &command, PromptOptions &o) {
  o.textOption = command.add_option("-p,--prompt", o.text, "the text");
  o.fileOption =
      command.add_option("-f,--file", o.file, "a file whose bytes are the text; -: stdin");
  command.add_flag("--parse-special", o.parseSpecial, "text of a special token becomes that token");
}

void addPromptOptions(CLI::App &command, PromptOptions &o) {
  addTextOptions(command, o);
  o.idsOption =
      command.add_option("--ids", o.ids, "the prompt as token ids: 1,2,3; nothing is added");
}

llvm::Expected<std::unique_ptr<Tokenizer>> openTokenizer(ModelOptions &options) {
  auto file = openFile(options);
  if (!file)
    return file.takeError();
  return loadTokenizer(**file);
}

llvm::Expected<std::string> readWhole(llvm::StringRef path) {
  if (path == "-" && isatty(STDIN_FILENO))
    note("reading from the terminal; Ctrl-D ends the text");
  auto buffer = path == "-" ? llvm::MemoryBuffer::getSTDIN()
                            : llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                                          /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError((path == "-" ? "stdin" : quotedText(path)) +
                                   ": could not read: " + buffer.getError().message() +
                                   "; name a file that can be read");
  return (*buffer)->getBuffer().str();
}

llvm::Error readPrompt(PromptOptions &o) {
  size_t given = o.textOption->count() + o.fileOption->count();
  if (o.idsOption)
    given += o.idsOption->count();
  else if (given == 0)
    o.file = "-";
  if (given > 1 || (given == 0 && o.idsOption))
    return llvm::createStringError("found %zu prompts, expected exactly one of -p TEXT, -f FILE "
                                   "and --ids 1,2,3",
                                   given);
  if (o.file.empty())
    return llvm::Error::success();
  auto bytes = readWhole(o.file);
  if (!bytes)
    return llvm::createStringError(llvm::toString(bytes.takeError()) +
                                   ", or give the text with -p");
  o.text = std::move(*bytes);
  return llvm::Error::success();
}

llvm::Expected<std::vector<int32_t>> parseIds(llvm::StringRef text, const Tokenizer &tokenizer) {
  std::vector<int32_t> ids;
  text = text.trim();
  if (text.consume_front("["))
    text.consume_back("]");
  if (text.trim().empty())
    return ids;
  llvm::SmallVector<llvm::StringRef> items;
  text.split(items, ',');
  for (llvm::StringRef item : items) {
    int64_t id;
    if (item.trim().getAsInteger(10, id))
      return llvm::createStringError("--ids: item " + llvm::Twine(ids.size() + 1) + " is " +
                                     quotedText(item.take_front(40)) +
                                     ", expected token ids such as 1,2,3");
    if (id < 0 || id >= tokenizer.nTokens())
      return llvm::createStringError("--ids: item %zu is %lld, expected an id of the vocabulary: 0 "
                                     "to %d",
                                     ids.size() + 1, (long long)id, tokenizer.nTokens() - 1);
    ids.push_back(int32_t(id));
  }
  return ids;
}

llvm::Expected<std::vector<int32_t>> promptIds(const PromptOptions &o, const Tokenizer &tokenizer) {
  llvm::Expected<std::vector<int32_t>> ids =
      o.idsOption->count() ? parseIds(o.ids, tokenizer)
                           : tokenizer.encode(o.text, /*addSpecial=*/true, o.parseSpecial);
  if (ids && ids->empty())
    return llvm::createStringError("the prompt has no tokens, expected at least one; give some "
                                   "text with -p or ids with --ids");
  return ids;
}

llvm::Expected<std::vector<int32_t>> parseIds(llvm::StringRef text, ModelOptions &options) {
  if (text.empty())
    return std::vector<int32_t>();
  auto tokenizer = openTokenizer(options);
  if (!tokenizer)
    return tokenizer.takeError();
  return parseIds(text, **tokenizer);
}

void addEditOption(CLI::App &command, std::vector<std::string> &edits) {
  command
      .add_option("-e,--edit", edits,
                  "change a value while it runs: 'blk.3.attn_ctx[:,2] *= 0', or = or +=, a number "
                  "or @FILE or @FILE:NAME")
      ->allow_extra_args(false);
}

llvm::Expected<std::vector<Edit>> readEdits(llvm::ArrayRef<std::string> texts) {
  std::vector<Edit> edits;
  for (const std::string &text : texts) {
    auto edit = parseEdit(text);
    if (!edit)
      return edit.takeError();
    edits.push_back(std::move(*edit));
  }
  return edits;
}

} // namespace vetro::cli
