// What `vetro step` and `vetro view` look at: a trace, alone or with its model, or a prompt that is
// run.
#pragma once

#include "runtime/cli/Prompt.h"
#include "runtime/engine/Recording.h"

namespace vetro::cli {

/// Whether a path is a trace's: by its name, or a folder with one.
bool isTrace(llvm::StringRef path);

struct RecordingOptions {
  ModelOptions model; ///< `path` may be a trace's
  PromptOptions prompt;
  RecordOptions record;
  std::vector<std::string> edits;
  std::string traceModel; ///< --model; empty: none
  std::string diff;       ///< --diff; empty: none
};

/// Adds MODEL, --model, --diff, the prompt, -n, sampling, -e and what belongs to them.
void addRecordingOptions(CLI::App &command, RecordingOptions &options);

/// Opens or runs it, with a progress bar. `command` is the subcommand's name, for messages. Errors:
/// no prompt, a prompt beside a trace, what opening, loading and running refuse.
llvm::Expected<std::unique_ptr<Recording>> openRecording(RecordingOptions &options,
                                                         llvm::StringRef command);

} // namespace vetro::cli
