// Runs Graphviz with a deadline.
#include "runtime/cli/Svg.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

namespace vetro::cli {

namespace {
/// A way to lay a graph out, from the most beautiful to one that always ends.
struct Layout {
  StringRef what, program;
  std::vector<StringRef> options;
  bool hasDeadline = true;
};
} // namespace

static std::vector<Layout> layouts() {
  return {{"dot", "dot", {}},
          {"dot, straight edges",
           "dot",
           {"-Gnslimit=1", "-Gnslimit1=1", "-Gmclimit=0.2", "-Gsplines=line"}},
          {"osage", "osage", {"-Gsplines=line"}, false}};
}

/// A file of the system's temporary folder that is removed at the end.
static llvm::Expected<std::string> temporary(StringRef suffix, StringRef text) {
  llvm::SmallString<128> path;
  int fd = -1;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("vetro", suffix, fd, path))
    return llvm::createStringError(error, "no temporary file for the drawing");
  llvm::raw_fd_ostream(fd, true) << text;
  return std::string(path);
}

static std::string firstLine(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().trim().split('\n').first.str() : "";
}

/// 0: drawn; -2: the deadline passed; else Graphviz's complaint is in `messages`.
static int draw(const Layout &layout, StringRef program, StringRef in, StringRef out,
                StringRef messages, unsigned seconds) {
  std::vector<StringRef> args{program, "-Tsvg"};
  args.insert(args.end(), layout.options.begin(), layout.options.end());
  args.insert(args.end(), {"-o", out, in});
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(""), messages};
  std::string error;
  return llvm::sys::ExecuteAndWait(program, args, std::nullopt, redirects, seconds, 0, &error);
}

llvm::Expected<std::string> writeSvg(StringRef dot, StringRef path, unsigned deadlineSec) {
  auto in = temporary("dot", dot), messages = temporary("txt", "");
  if (!in)
    return in.takeError();
  llvm::FileRemover removeIn(*in);
  if (!messages)
    return messages.takeError();
  llvm::FileRemover removeMessages(*messages);
  for (const Layout &layout : layouts()) {
    if (layout.hasDeadline && deadlineSec == 0)
      continue;
    auto program = llvm::sys::findProgramByName(layout.program);
    if (!program)
      return llvm::createStringError(
          "graphviz's program '%s' was not found: install graphviz, or write a .dot file",
          layout.program.str().c_str());
    unsigned seconds = layout.hasDeadline ? deadlineSec : 0;
    int code = draw(layout, *program, *in, path, *messages, seconds);
    if (code == 0)
      return layout.what.str();
    if (code != -2)
      return llvm::createStringError("%s: graphviz could not draw this: %s", path.str().c_str(),
                                     firstLine(*messages).c_str());
  }
  llvm_unreachable("the last layout has no deadline");
}

} // namespace vetro::cli
