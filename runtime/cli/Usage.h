// Errors of the command line itself: one line, with the nearest option or subcommand.
#pragma once

#include "runtime/cli/Command.h"

namespace vetro::cli {

/// Prints what a failed parse means and returns the exit code; help and version are no failures.
int reportParse(const CLI::App &program, const CLI::ParseError &error, int argc, char **argv);

} // namespace vetro::cli
