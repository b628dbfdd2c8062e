// vetro tokenize: text on stdin to token ids, with the reasons if asked.
#include "runtime/cli/Output.h"
#include "runtime/cli/Prompt.h"
#include "runtime/engine/EncodingJson.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

namespace {
struct TokenizeOptions {
  ModelOptions model;
  PromptOptions prompt;
  bool noAddSpecial = false, explain = false, json = false;
};
} // namespace

static void printMerge(size_t number, const Explain::Merge &m) {
  llvm::outs() << llvm::format("    %3zu  ", number) << quotedText(m.left) << " + "
               << quotedText(m.right) << " -> " << quotedText(m.result);
  if (m.byScore)
    llvm::outs() << llvm::format("  score %g\n", double(m.score));
  else
    llvm::outs() << "  rank " << m.rank << "\n";
}

/// The split and each merge in order.
static void printExplain(const Tokenizer &tokenizer, const Explain &e, llvm::StringRef text) {
  llvm::raw_ostream &out = llvm::outs();
  out << text.size() << " bytes, " << e.fragments.size() << " fragments\n";
  for (const Explain::Fragment &f : e.fragments) {
    out << "  " << f.begin << ".." << f.end << "  ";
    if (f.special >= 0)
      out << "special token " << f.special << "  ";
    out << quotedText(text.slice(f.begin, f.end)) << "\n";
  }
  out << e.words.size() << " words, " << e.merges.size() << " merges\n";
  for (const Explain::Word &w : e.words) {
    out << "  " << w.begin << ".." << w.end << "  " << quotedText(text.slice(w.begin, w.end))
        << "\n";
    for (size_t i = 0; i < w.nMerges; ++i)
      printMerge(i + 1, e.merges[w.firstMerge + i]);
    out << "    ids";
    for (int32_t id : w.ids)
      out << " " << id << " " << quotedText(tokenizer.token(id));
    out << "\n";
  }
}

/// One token a line: id, piece, bytes.
static void printTokens(const Tokenizer &tokenizer, llvm::ArrayRef<int32_t> ids) {
  for (int32_t id : ids) {
    llvm::outs() << llvm::format("%7d  ", id) << quotedText(tokenizer.token(id)) << " ";
    for (unsigned char byte : tokenizer.piece(id))
      llvm::outs() << llvm::format(" %02x", byte);
    llvm::outs() << "\n";
  }
}

static int tokenize(TokenizeOptions &o) {
  auto tokenizer = openTokenizer(o.model);
  if (!tokenizer)
    return fail(tokenizer.takeError());
  if (llvm::Error error = readPrompt(o.prompt))
    return fail(std::move(error));
  const std::string &text = o.prompt.text;
  bool addSpecial = !o.noAddSpecial, parseSpecial = o.prompt.parseSpecial;
  Explain explain;
  std::vector<int32_t> ids =
      o.explain ? (*tokenizer)->encodeExplained(text, addSpecial, parseSpecial, explain)
                : (*tokenizer)->encode(text, addSpecial, parseSpecial);
  if (o.json) {
    Json object = {{"ids", ids}, {"pieces", piecesJson(**tokenizer, ids)}};
    if (o.explain)
      object["explain"] = encodingJson(explain, text);
    printJson(object);
    return Done;
  }
  if (o.explain)
    printExplain(**tokenizer, explain, text);
  printTokens(**tokenizer, ids);
  return Done;
}

void addTokenize(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<TokenizeOptions>();
  CLI::App *command = program.add_subcommand(
      "tokenize", "text to token ids; a file that holds only a vocabulary will do");
  addFileOptions(*command, o->model);
  addTextOptions(*command, o->prompt);
  command->add_flag("--no-add-special", o->noAddSpecial, "add no BOS and no EOS");
  command->add_flag("--explain", o->explain, "show the split and each merge in order");
  command->add_flag("--json", o->json, "one object: ids, pieces (as the vocabulary spells them)");
  command->footer("Without -p and -f the text is read from stdin.\n"
                  "Examples:\n"
                  "  vetro tokenize model.gguf -p 'Hello world'\n"
                  "  vetro tokenize model.gguf --explain < letter.txt\n"
                  "  printf '<|im_end|>' | vetro tokenize model.gguf --parse-special --json");
  command->callback([o, &exitCode] { exitCode = tokenize(*o); });
}

} // namespace vetro::cli
