// vetro view: a run in a browser.
#include "runtime/cli/Output.h"
#include "runtime/cli/OutputFile.h"
#include "runtime/cli/Recordings.h"
#include "runtime/memory/Signals.h"
#include "runtime/page/Export.h"
#include "runtime/page/Server.h"

#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <thread>

namespace vetro::cli {

namespace {
struct ViewOptions {
  RecordingOptions recording;
  std::string out;
  std::vector<size_t> tokens; ///< of the exported page; empty: the prompt's last one
  unsigned port = 0;
  bool open = false;
};
} // namespace

/// Starts the system's browser; where there is none the address is still printed.
static void openBrowser(const std::string &url) {
  if (auto program = llvm::sys::findProgramByName("xdg-open")) {
    std::optional<llvm::StringRef> quiet[] = {llvm::StringRef(""), llvm::StringRef(""),
                                              llvm::StringRef("")};
    llvm::sys::ExecuteNoWait(*program, {*program, url}, std::nullopt, quiet);
  } else {
    note("--open: xdg-open was not found: open the address yourself");
  }
}

static int serve(const ViewOptions &o, page::Viewer &viewer) {
  installInterruptHandler();
  auto server = page::Server::start(viewer, o.port);
  if (!server)
    return fail(server.takeError());
  llvm::outs() << (*server)->url() << "\n";
  llvm::outs().flush();
  if (o.open)
    openBrowser((*server)->url());
  if (showNotes(false))
    note("serving this machine only; Ctrl-C ends it");
  while (!interrupted())
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return Done;
}

static int exportTo(const ViewOptions &o, page::Viewer &viewer, Progress &progress) {
  std::vector<size_t> tokens = o.tokens;
  if (tokens.empty())
    tokens = {viewer.walk().place().token};
  auto text = page::exportPage(viewer, tokens,
                               [&](double done) { progress.show("asking beforehand", done); });
  progress.clear();
  if (!text)
    return fail(text.takeError());
  llvm::Error error = writeOutput(o.out, [&](llvm::raw_ostream &out) { out << *text; });
  return error ? fail(std::move(error)) : int(Done);
}

static int view(ViewOptions &o, const CLI::App &command) {
  if (!o.out.empty())
    if (llvm::Error error = checkOutput(
            o.out, "--export", {o.recording.model.path, o.recording.traceModel, o.recording.diff}))
      return fail(std::move(error));
  auto recording = openRecording(o.recording, "view");
  if (!recording)
    return fail(recording.takeError());
  screens::Stepper stepper(
      std::move(*recording), o.recording.record,
      commandLine(command, {"--export", "--token", "--port", "--open", "--edit"}));
  page::Viewer viewer(stepper);
  if (o.out.empty())
    return serve(o, viewer);
  Progress progress(o.recording.model);
  return exportTo(o, viewer, progress);
}

void addView(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<ViewOptions>();
  CLI::App *command = program.add_subcommand("view", "look at a run in a browser");
  addRecordingOptions(*command, o->recording);
  auto *out = command->add_option("--export", o->out,
                                  "write one HTML file that opens offline, and serve nothing");
  command
      ->add_option("--token", o->tokens,
                   "position of a token to export; may be repeated (default: the prompt's last)")
      ->needs(out);
  command->add_option("--port", o->port, "listen here (default: a free port)")
      ->check(range(1u, 65535u))
      ->excludes(out);
  command->add_flag("--open", o->open, "open the browser too")->excludes(out);
  command->footer(
      "MODEL may be a trace (vetro run --trace). Prints the page's address; it is served to this\n"
      "machine only, until Ctrl-C. Press ? in the page for its keys.\n\nExamples:\n"
      "  vetro view tiny -p 'Once upon a time' --open\n"
      "  vetro view hello.vtrace --model model.gguf\n"
      "  vetro view hello.vtrace --model model.gguf --export lab.html --token 5");
  command->callback([o, &exitCode, command] { exitCode = view(*o, *command); });
}

} // namespace vetro::cli
