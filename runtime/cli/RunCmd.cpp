// vetro run: a prompt in, text out.
#include "runtime/cli/Command.h"
#include "runtime/engine/Engine.h"
#include "runtime/engine/Session.h"
#include "runtime/memory/Signals.h"

#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

namespace {
struct RunOptions {
  ModelOptions model;
  SessionOptions session;
  GenerateOptions generate;
  std::string prompt;
  std::vector<int32_t> ids;
};
} // namespace

static int run(const RunOptions &o) {
  auto model = Model::load(o.model);
  if (!model)
    return fail(model.takeError());
  auto session = Session::create(*model, o.session);
  if (!session)
    return fail(session.takeError());
  std::vector<int32_t> prompt = o.ids;
  if (prompt.empty())
    prompt = (*model)->tokenizer().encode(o.prompt, true, false);
  auto result =
      generate(**session, (*model)->tokenizer(), prompt, o.generate, [](llvm::StringRef text) {
        llvm::outs() << text;
        llvm::outs().flush();
      });
  if (!result)
    return fail(result.takeError());
  llvm::outs() << "\n";
  return result->stop == StopReason::Interrupt ? Interrupted : Done;
}

void addRun(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<RunOptions>();
  CLI::App *command = program.add_subcommand("run", "continue a prompt");
  addModelOptions(*command, o->model);
  command->add_option("-p,--prompt", o->prompt, "the prompt");
  command->add_option("--ids", o->ids, "the prompt as token ids")->delimiter(',');
  command->add_option("-n", o->generate.nPredict, "tokens to generate")->capture_default_str();
  command->add_option("-c", o->session.nCtx, "context length")->capture_default_str();
  command->add_option("--ubatch", o->session.nUbatch, "tokens per micro-batch")
      ->capture_default_str();
  command->add_option("--temp", o->generate.sampling.temperature, "temperature; 0: greedy");
  command->add_option("--seed", o->generate.sampling.seed, "seed of the sampler");
  command->add_flag("--ignore-eos", o->generate.ignoreEos, "go on past the end of generation");
  command->callback([o, &exitCode] {
    installInterruptHandler();
    exitCode = run(*o);
  });
}

} // namespace vetro::cli
