// vetro step: one token's whole cycle, step by step.
#include "runtime/cli/Output.h"
#include "runtime/cli/Recordings.h"
#include "runtime/terminal/Curses.h"

#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

namespace vetro::cli {

namespace {
struct StepOptions {
  RecordingOptions recording;
  std::string script, size = "80x24", at;
  bool json = false, ascii = false;
};
} // namespace

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
  if (o.script.empty() && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
    return fail("step: this is no terminal; run it in one, or give it keys with --script FILE");
  auto recording = openRecording(o.recording, "step");
  if (!recording)
    return fail(recording.takeError());
  screens::Stepper stepper(
      std::move(*recording), o.recording.record,
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
  CLI::App *command =
      program.add_subcommand("step", "walk through a token's sixteen steps, and back");
  addRecordingOptions(*command, o->recording);
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
