// The program `vetro`: one file per subcommand.
#include "runtime/cli/Output.h"
#include "runtime/cli/Usage.h"

#include <csignal>
#include <fcntl.h>

using namespace vetro::cli;

static void addSubcommands(CLI::App &program, int &exitCode) {
  addRun(program, exitCode);
  addStep(program, exitCode);
  addView(program, exitCode);
  addTokenize(program, exitCode);
  addDetokenize(program, exitCode);
  addDump(program, exitCode);
  addDiff(program, exitCode);
  addPatch(program, exitCode);
  addBisect(program, exitCode);
  addEval(program, exitCode);
  addPerplexity(program, exitCode);
  addBench(program, exitCode);
  addInspect(program, exitCode);
  addNames(program, exitCode);
  addGraph(program, exitCode);
  addPasses(program, exitCode);
  addMakeTiny(program, exitCode);
  addQuantize(program, exitCode);
  addLab(program, exitCode);
  // Reads its own command line before this one is looked at; here for --help and completion.
  program.add_subcommand("opt", "MLIR's optimiser driver with Vetro's dialect and passes");
  addCompletion(program, exitCode);
}

static int runProgram(int argc, char **argv) {
  CLI::App program("Vetro: a see-through inference engine for language models", "vetro");
  program.require_subcommand(1);
  program.set_version_flag("--version", "vetro " VETRO_VERSION);
  program.footer(
      "Examples:\n"
      "  vetro run model.gguf -p 'Once upon a time' -n 64\n"
      "  vetro inspect model.gguf\n"
      "  vetro SUBCOMMAND --help\n"
      "Exit codes: 0 done, 1 the answer is no, 2 input or usage error, 130 interrupted.");
  int exitCode = Done;
  addSubcommands(program, exitCode);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return reportParse(program, error, argc, argv);
  }
  return exitCode;
}

/// A stream that the parent process closed would lend its number to the first file that is opened,
/// and the model be read as text, or the text written into it. It becomes one that refuses.
static void reserveStandardStreams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0)
      (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY); // takes the lowest free number: fd
}

int main(int argc, char **argv) {
  reserveStandardStreams();
  // A reader that goes away ends the program quietly, whatever the parent process had set.
  std::signal(SIGPIPE, SIG_DFL);
  if (argc > 1 && std::string_view(argv[1]) == "opt")
    return runOpt(argc - 1, argv + 1);
  try {
    return finishOutput(runProgram(argc, argv));
  } catch (const std::bad_alloc &) {
    return fail("out of memory; try a smaller context (-c) or micro-batch (--ubatch)");
  }
}
