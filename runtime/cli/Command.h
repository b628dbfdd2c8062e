// What the subcommands of `vetro` share: exit codes, errors, and the options of a file and a model.
#pragma once

#include "runtime/engine/MappedFile.h"

#include "llvm/Support/Error.h"
#include <CLI/CLI.hpp>

namespace vetro::cli {

/// Exit codes of the program.
enum ExitCode { Done = 0, AnswerIsNo = 1, InputError = 2, Interrupted = 130 };

/// `text`, which may quote a file, as one line that is safe to show: control characters escaped.
std::string oneLine(const llvm::Twine &text);
/// Prints "vetro: message" as one line on stderr and returns InputError.
int fail(llvm::Error error);
int fail(const llvm::Twine &message);

/// A whole number from `low` to `high`; the help text does not repeat the range.
template <typename T> CLI::Validator range(T low, T high) {
  auto check = [low, high](std::string &text) {
    T number;
    if (!llvm::StringRef(text).getAsInteger(10, number) && number >= low && number <= high)
      return std::string();
    return "found " + (text.empty() ? "nothing" : text) + ", expected a whole number from " +
           std::to_string(low) + " to " + std::to_string(high);
  };
  return CLI::Validator(check, "");
}

/// Adds what every command that opens a file has: MODEL, --override-kv, --no-mmap, ... Another
/// `model`, such as "--model", need not be given.
void addFileOptions(CLI::App &command, ModelOptions &options, const std::string &model = "MODEL");
/// Adds what decides the plan: --kv, --disable, --level.
void addPlanOptions(CLI::App &command, ModelOptions &options);
/// Adds --round to a command that has --reference, with what it does alone.
void addRoundOption(CLI::App &command, ModelOptions &options);
/// Adds --level, which is part of those.
void addLevelOption(CLI::App &command, std::string &level);
/// Adds all options of a model that runs: those two groups, --threads, --cache-dir, ...
void addModelOptions(CLI::App &command, ModelOptions &options, const std::string &model = "MODEL");
/// Where compiled plans are kept: $XDG_CACHE_HOME/vetro, else ~/.cache/vetro; empty: neither is
/// known.
std::string defaultCacheDir();
/// Adds -c and --ubatch.
void addSessionOptions(CLI::App &command, SessionOptions &options);

/// The command line that gives `command` what it was given, quoted for a shell: "vetro diff a b";
/// `without` some options ("--json").
std::string commandLine(const CLI::App &command, llvm::ArrayRef<llvm::StringRef> without = {});

/// Opens the file of a command that computes nothing.
llvm::Expected<std::shared_ptr<gguf::File>> openFile(ModelOptions &options);

// The subcommands: each adds itself to the program; its callback sets `exitCode`.
void addRun(CLI::App &program, int &exitCode);
void addStep(CLI::App &program, int &exitCode);
void addView(CLI::App &program, int &exitCode);
void addTokenize(CLI::App &program, int &exitCode);
void addDetokenize(CLI::App &program, int &exitCode);
void addDump(CLI::App &program, int &exitCode);
void addDiff(CLI::App &program, int &exitCode);
void addEval(CLI::App &program, int &exitCode);
void addPatch(CLI::App &program, int &exitCode);
void addBisect(CLI::App &program, int &exitCode);
void addPerplexity(CLI::App &program, int &exitCode);
void addBench(CLI::App &program, int &exitCode);
void addInspect(CLI::App &program, int &exitCode);
void addMakeTiny(CLI::App &program, int &exitCode);
void addQuantize(CLI::App &program, int &exitCode);
void addLab(CLI::App &program, int &exitCode);
void addCompletion(CLI::App &program, int &exitCode);
void addNames(CLI::App &program, int &exitCode);
void addGraph(CLI::App &program, int &exitCode);
void addPasses(CLI::App &program, int &exitCode);
/// `vetro opt` is MLIR's optimiser driver and reads its own command line.
int runOpt(int argc, char **argv);

} // namespace vetro::cli
