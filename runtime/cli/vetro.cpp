// The program `vetro`: one file per subcommand.
#include "runtime/cli/Command.h"

int main(int argc, char **argv) {
  using namespace vetro::cli;
  if (argc > 1 && std::string_view(argv[1]) == "opt")
    return runOpt(argc - 1, argv + 1);
  CLI::App program("Vetro: a see-through inference engine for language models", "vetro");
  program.require_subcommand(1);
  int exitCode = Done;
  addRun(program, exitCode);
  addDump(program, exitCode);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    int code = program.exit(error);
    return code == 0 ? Done : InputError;
  }
  return exitCode;
}
