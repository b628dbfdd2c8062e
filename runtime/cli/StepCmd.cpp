// vetro step: one token's whole cycle, step by step.
#include "runtime/builtin/Builtin.h"
#include "runtime/cli/Output.h"
#include "runtime/cli/Prompt.h"
#include "runtime/cli/Sampling.h"
#include "runtime/engine/RunOptions.h"
#include "runtime/terminal/Curses.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

namespace vetro::cli {

namespace {
struct StepOptions {
  ModelOptions model;
  PromptOptions prompt;
  RecordOptions record;
  std::vector<std::string> edits;
  std::string traceModel, script, size = "80x24", at;
  bool json = false, ascii = false;
};
} // namespace

/// Whether a path is a trace's: by its name, or a folder with one.
static bool isTrace(llvm::StringRef path) {
  llvm::SmallString<128> document(path);
  llvm::sys::path::append(document, "trace.json");
  return path.ends_with(".vtrace") || llvm::sys::fs::exists(document);
}

/// A trace, alone or with the model that made it.
static llvm::Expected<std::unique_ptr<Recording>> openTrace(StepOptions &o, Progress &progress) {
  auto trace = TraceFile::open(o.model.path);
  if (!trace || o.traceModel.empty()) {
    if (trace)
      return Recording::of(std::move(*trace));
    return trace.takeError();
  }
  ModelOptions options = o.model;
  options.path = o.traceModel;
  if (llvm::Error error = useBuiltin(options.path, options.open))
    return std::move(error);
  std::string run = (*trace)->document()["options"].dump();
  if (!takeRunOptions(run, options))
    return llvm::createStringError((*trace)->path() +
                                   ": its options are not what vetro run writes");
  auto model = Model::load(options);
  progress.clear();
  if (!model)
    return model.takeError();
  o.record.generate.nPredict = unsigned((*trace)->document()["tokens"].size());
  return Recording::of(std::move(*trace), std::move(*model));
}

static llvm::Expected<std::unique_ptr<Recording>> runPrompt(StepOptions &o, Progress &progress) {
  o.model.nCtx = o.record.session.nCtx;
  auto model = Model::load(o.model);
  if (!model)
    return model.takeError();
  auto prompt = promptIds(o.prompt, (*model)->tokenizer());
  if (!prompt)
    return prompt.takeError();
  auto edits = readEdits(o.edits);
  if (!edits)
    return edits.takeError();
  o.record.edits = std::move(*edits);
  o.record.parseSpecial = o.prompt.parseSpecial;
  size_t done = 0;
  RecordOptions record = o.record;
  record.onText = [&](llvm::StringRef) {
    progress.show("running", double(++done) / std::max(1u, record.generate.nPredict));
  };
  progress.show("tracing the compiler", 0);
  TracedPrompt traced{*prompt, o.prompt.idsOption->count() ? nullptr : &o.prompt.text,
                      o.prompt.parseSpecial};
  auto recording = Recording::record(std::move(*model), traced, record);
  progress.clear();
  return recording;
}

// ---- scripts ----

static void printScreen(const StepOptions &o, screens::Stepper &stepper, terminal::View &view,
                        llvm::StringRef keys) {
  screens::Screen screen = stepper.screen();
  if (o.json) {
    Json json = {{"keys", keys.str()},
                 {"place", screens::placeText(stepper.recording(), stepper.place())},
                 {"message", stepper.message()},
                 {"screen", screens::toJson(screen)},
                 {"data", screens::dataOf(screen)}};
    printJson(json);
    return;
  }
  llvm::outs() << "== " << keys << "\n"
               << terminal::plainText(terminal::picture(stepper, screen, view));
}

/// Each line presses keys, or one that asks and what is typed then: "n n Enter", "/ q_rope".
static llvm::Error runScript(const StepOptions &o, screens::Stepper &stepper) {
  auto script = readWhole(o.script);
  if (!script)
    return script.takeError();
  terminal::View view;
  view.ascii = o.ascii;
  auto [width, height] = llvm::StringRef(o.size).split('x');
  if (width.getAsInteger(10, view.width) || height.getAsInteger(10, view.height) ||
      view.width < 20 || view.height < 8 || view.width > 1000 || view.height > 1000)
    return llvm::createStringError("--size: " + quotedText(o.size) +
                                   " is no size from 20x8 to 1000x1000, "
                                   "such as 80x24");
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(*script).split(lines, '\n');
  for (llvm::StringRef line : lines) {
    line = line.trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    auto [first, rest] = line.split(' ');
    llvm::SmallVector<llvm::StringRef> keys;
    if (screens::Stepper::asks(first.str()).empty())
      line.split(keys, ' ', -1, /*KeepEmpty=*/false);
    else
      terminal::press(stepper, view, first.str(), rest.trim());
    for (llvm::StringRef key : keys)
      terminal::press(stepper, view, key.str(), "");
    printScreen(o, stepper, view, line);
    if (stepper.done())
      break;
  }
  return llvm::Error::success();
}

static int run(StepOptions &o, const CLI::App &command) {
  bool traced = isTrace(o.model.path);
  if (o.script.empty() && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
    return fail("step: this is no terminal; run it in one, or give it keys with --script FILE");
  if (!traced && !o.traceModel.empty())
    return fail("step: --model goes with a trace, and " + quotedText(o.model.path) + " is none");
  if (!traced)
    if (llvm::Error error = readPrompt(o.prompt))
      return fail(std::move(error));
  Progress progress(o.model);
  auto recording = traced ? openTrace(o, progress) : runPrompt(o, progress);
  progress.clear();
  if (!recording)
    return fail(recording.takeError());
  screens::Stepper stepper(
      std::move(*recording), o.record,
      commandLine(command, {"--script", "--size", "--at", "--json", "--ascii", "--edit"}));
  if (!o.at.empty()) {
    auto place = screens::readPlace(stepper.recording(), o.at, stepper.place());
    if (!place)
      return fail(place.takeError());
    stepper.go(*place);
  }
  llvm::Error error = o.script.empty() ? terminal::run(stepper) : runScript(o, stepper);
  return error ? fail(std::move(error)) : int(Done);
}

void addStep(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<StepOptions>();
  o->record.generate.nPredict = 16;
  CLI::App *command =
      program.add_subcommand("step", "walk through a token's sixteen steps, and back");
  addModelOptions(*command, o->model);
  addPromptOptions(*command, o->prompt);
  command->add_option("--model", o->traceModel,
                      "the model of a trace, to see what the trace does not hold");
  command->add_option("-n,--predict", o->record.generate.nPredict, "tokens to generate")
      ->check(range(1u, 100000u))
      ->capture_default_str();
  addSessionOptions(*command, o->record.session);
  addSamplingOptions(*command, o->record.generate.sampling);
  command->add_flag("--ignore-eos", o->record.generate.ignoreEos,
                    "go on past the end of generation");
  addEditOption(*command, o->edits);
  command->add_option("--at", o->at, "where to begin: '13 blk.3.q_rope token 7'");
  command->add_option("--script", o->script, "keys from a file, - for stdin; prints each screen");
  command->add_option("--size", o->size, "of the screens of a script")->capture_default_str();
  command->add_flag("--ascii", o->ascii, "no other characters in the screens of a script");
  command->add_flag("--json", o->json,
                    "of a script: an object a screen, with name, index and value of all it shows");
  command->footer(
      "MODEL may be a trace (vetro run --trace); of another file than its model's it shows what\n"
      "it holds. Press ? for the keys.\n\nExamples:\n"
      "  vetro step tiny -p 'Once upon a time'\n"
      "  vetro step model.gguf -p 'The capital of France is' --at '13 blk.5.q_rope'\n"
      "  vetro step hello.vtrace --model model.gguf\n"
      "  echo 'n n Enter' | vetro step tiny -p Hello --script -");
  command->callback([o, &exitCode, command] { exitCode = run(*o, *command); });
}

} // namespace vetro::cli
