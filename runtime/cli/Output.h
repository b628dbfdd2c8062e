// Where output goes: results to stdout, progress and notes to stderr if it is a terminal.
#pragma once

#include "runtime/engine/Options.h"

#include <nlohmann/json.hpp>

namespace vetro::cli {

using Json = nlohmann::ordered_json;

/// Prints one object and a newline on stdout. Bytes that are no UTF-8 become U+FFFD.
void printJson(const Json &object);
/// `text` in double quotes with control characters escaped: safe to show on a terminal.
std::string quotedText(llvm::StringRef text);
/// A name from a file: as it is where that is safe to show, else as quotedText().
std::string nameText(llvm::StringRef name);

/// Whether notes are wanted: stderr is a terminal, or the user asked with -v.
bool showNotes(bool verbose);
/// One line "vetro: note" on stderr.
void note(const llvm::Twine &text);

/// Flushes stdout and returns `exitCode`; an output that could not be written is an input error.
int finishOutput(int exitCode);

/// A bar on stderr for long work; draws nothing where stderr is no terminal.
class Progress {
public:
  /// Hooks itself into the options, which must not be used after this object: loading, compiling
  /// and, with a session's options, prompts of several micro-batches.
  explicit Progress(ModelOptions &options);
  Progress(ModelOptions &options, SessionOptions &session);
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// fraction: 0 to 1.
  void show(llvm::StringRef stage, double fraction);
  void clear();

private:
  int shownPercent = -1;
  std::string shownStage;
};

} // namespace vetro::cli
