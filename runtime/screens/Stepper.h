// Walking through a recording by keys: what the terminal and a script drive. Knows no terminal.
#pragma once

#include "runtime/screens/Breakpoint.h"

namespace vetro::screens {

/// How keys are called: a character stands for itself; others are "Enter", "Escape", "Tab",
/// "Space", "Up", "Down", "Left", "Right", "PageUp", "PageDown", "Home", "End".
using Key = std::string;

class Stepper {
public:
  /// `command`: what made the recording, as one types it.
  Stepper(std::unique_ptr<Recording> recording, RecordOptions options, std::string command);

  /// What a key asks for before it can act: the line after a word, such as "break at"; empty:
  /// nothing.
  static std::string asks(const Key &key);
  /// Acts on a key; `line` is what was typed where asks() wants it. What went wrong is told in
  /// message(). Unknown keys do nothing.
  void press(const Key &key, llvm::StringRef line = "");

  bool done() const { return quit; }
  bool helps() const { return help; }
  const Place &place() const { return at; }
  void go(const Place &place) { at = place; }
  Recording &recording() { return *recordings.back(); }
  /// The answer to the last key; empty: none.
  const std::string &message() const { return said; }
  bool messageIsError() const { return failed; }
  size_t nEdits() const { return recordings.size() - 1; }
  /// The screen of the place. An error is its text.
  Screen screen();
  /// What shows this place again.
  std::string command() const;
  /// Called with 0 to 1 while a run is made again; may be empty.
  std::function<void(double)> progress;

private:
  const Json &document() { return recording().document(); }
  void say(std::string text) { said = std::move(text), failed = false; }
  void sayError(llvm::Error error);
  void walkCycle(bool back);
  void moveOp(int by);
  void moveLayer(int by);
  void moveToken(int by);
  void turnPass(int by);
  void moveRow(int by);
  void enter();
  void nextTab();
  void nextMetric();
  void follow(bool toUsers);
  void search(llvm::StringRef text);
  void addBreakpoint(llvm::StringRef text);
  void walkToBreakpoint(bool back);
  void edit(llvm::StringRef text);
  void undo();
  void why(llvm::StringRef piece);

  std::vector<std::unique_ptr<Recording>> recordings; ///< the first, then one for each edit
  RecordOptions options;
  std::string typed;
  Place at;
  std::vector<Breakpoint> breakpoints;
  std::string said;
  bool failed = false, quit = false, help = false;
};

/// The keys and what they do, for the help: {"n p", "next, previous op"}.
llvm::ArrayRef<std::pair<const char *, const char *>> keyHelp();

} // namespace vetro::screens
