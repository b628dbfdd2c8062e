// JSON, notes and progress.
#include "runtime/cli/Output.h"
#include "runtime/cli/Command.h"

#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <unistd.h>

namespace vetro::cli {

static std::string dump(const Json &value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void printJson(const Json &object) { llvm::outs() << dump(object) << "\n"; }

std::string quotedText(llvm::StringRef text) { return dump(text.str()); }

bool showNotes(bool verbose) { return verbose || isatty(STDERR_FILENO); }

void note(const llvm::Twine &text) { llvm::errs() << "vetro: " << text << "\n"; }

int finishOutput(int exitCode) {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  // CLI11 prints help and version to the C library's stream.
  bool helpLost = std::fflush(stdout) != 0 || std::ferror(stdout);
  if (!out.has_error() && !helpLost)
    return exitCode;
  std::error_code code = out.has_error() ? out.error() : std::make_error_code(std::errc::io_error);
  std::string reason = code.message();
  out.clear_error(); // else its destructor ends the process
  return fail("stdout: could not write: " + reason + "; free some space or write elsewhere");
}

std::string nameText(llvm::StringRef name) {
  bool plain = !name.empty() && llvm::all_of(name, [](char c) { return c > ' ' && c < 127; });
  return plain ? name.str() : quotedText(name);
}

Progress::Progress(ModelOptions &options) {
  options.progress = [this](llvm::StringRef stage, double fraction) { show(stage, fraction); };
  options.open.progress = [this](double fraction) { show("reading the file", fraction); };
}

Progress::Progress(ModelOptions &options, SessionOptions &session) : Progress(options) {
  session.progress = [this](double fraction) { show("reading the prompt", fraction); };
}

void Progress::show(llvm::StringRef stage, double fraction) {
  constexpr int width = 30;
  int percent = int(fraction * 100);
  if (!isatty(STDERR_FILENO) || (percent == shownPercent && stage == shownStage))
    return;
  shownPercent = percent;
  shownStage = stage.str();
  std::string bar(size_t(percent * width / 100), '#');
  bar.resize(width, '.');
  llvm::errs() << "\r\x1b[K[" << bar << "] " << percent << "% " << stage;
}

void Progress::clear() {
  if (shownPercent >= 0)
    llvm::errs() << "\r\x1b[K";
  shownPercent = -1;
}

} // namespace vetro::cli
