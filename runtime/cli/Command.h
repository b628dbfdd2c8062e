// What the subcommands of `vetro` share: options of a model and a prompt, errors, progress.
#pragma once

#include "runtime/engine/Options.h"

#include "llvm/Support/Error.h"
#include <CLI/CLI.hpp>

namespace vetro::cli {

/// Exit codes of the program.
enum ExitCode { Done = 0, AnswerIsNo = 1, InputError = 2, Interrupted = 130 };

/// Prints "vetro: message" on stderr and returns InputError.
int fail(llvm::Error error);

/// Adds the options of a model: path, --threads, --kv, --disable, --level, --no-mmap, ...
void addModelOptions(CLI::App &command, ModelOptions &options);

/// A subcommand: adds itself to the program; its callback sets `exitCode`.
void addRun(CLI::App &program, int &exitCode);
void addDump(CLI::App &program, int &exitCode);
/// `vetro opt` is MLIR's optimiser driver and reads its own command line.
int runOpt(int argc, char **argv);

} // namespace vetro::cli
