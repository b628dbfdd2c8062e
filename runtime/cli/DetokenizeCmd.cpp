// vetro detokenize: token ids to the bytes they print.
#include "runtime/cli/Output.h"
#include "runtime/cli/Prompt.h"

#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

namespace {
struct DetokenizeOptions {
  ModelOptions model;
  std::string ids;
  bool special = false, json = false;
};
} // namespace

static int detokenize(DetokenizeOptions &o) {
  auto tokenizer = openTokenizer(o.model);
  if (!tokenizer)
    return fail(tokenizer.takeError());
  if (o.ids == "-") {
    auto text = readWhole("-");
    if (!text)
      return fail(text.takeError());
    o.ids = std::move(*text);
  }
  auto ids = parseIds(o.ids, **tokenizer);
  if (!ids)
    return fail(ids.takeError());
  std::string text = (*tokenizer)->decode(*ids, o.special);
  if (o.json)
    printJson({{"text", text}});
  else
    llvm::outs() << text;
  return Done;
}

void addDetokenize(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<DetokenizeOptions>();
  CLI::App *command = program.add_subcommand("detokenize", "token ids to the bytes they print");
  addFileOptions(*command, o->model);
  command->add_option("--ids", o->ids, "token ids: 1,2,3; -: read them from stdin")->required();
  command->add_flag("--special", o->special, "print control tokens too");
  command->add_flag("--json", o->json, "one object: text");
  command->footer("Examples:\n"
                  "  vetro detokenize model.gguf --ids 504,3575,282\n"
                  "  vetro detokenize model.gguf --ids - < ids.txt");
  command->callback([o, &exitCode] { exitCode = detokenize(*o); });
}

} // namespace vetro::cli
