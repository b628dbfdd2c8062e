// Runs Graphviz with a deadline.
#include "runtime/engine/Svg.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

namespace vetro {

namespace {
/// A way to lay a graph out, from the most beautiful to one that always ends.
struct Layout {
  StringRef what, program;
  std::vector<StringRef> options;
  bool hasDeadline = true;
};

/// A file of the system's temporary folder that is removed at the end.
class Temporary {
public:
  static llvm::Expected<Temporary> create(StringRef suffix, StringRef text) {
    llvm::SmallString<128> path;
    int fd = -1;
    std::error_code code = llvm::sys::fs::createTemporaryFile("vetro", suffix, fd, path);
    Temporary file(path);
    if (!code) {
      llvm::raw_fd_ostream out(fd, true);
      out << text;
      out.close();
      code = out.error();
      out.clear_error(); // else its destructor ends the process
    }
    if (code)
      return llvm::createStringError(
          "the temporary folder has no room for the drawing: %s; set TMPDIR to another one",
          code.message().c_str());
    return std::move(file);
  }
  StringRef path() const { return name; }
  std::string text() const {
    auto buffer = llvm::MemoryBuffer::getFile(name);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }

private:
  explicit Temporary(StringRef path)
      : name(path), remover(std::make_unique<llvm::FileRemover>(path)) {}
  std::string name;
  std::unique_ptr<llvm::FileRemover> remover; ///< moves with the name
};
} // namespace

static std::vector<Layout> layouts() {
  return {{"dot", "dot", {}},
          {"dot, straight edges",
           "dot",
           {"-Gnslimit=1", "-Gnslimit1=1", "-Gmclimit=0.2", "-Gsplines=line"}},
          {"osage", "osage", {"-Gsplines=line"}, false}};
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

llvm::Expected<Drawing> drawSvg(StringRef dot, unsigned deadlineSec) {
  auto in = Temporary::create("dot", dot);
  if (!in)
    return in.takeError();
  auto out = Temporary::create("svg", ""), messages = Temporary::create("txt", "");
  if (llvm::Error error = llvm::joinErrors(out.takeError(), messages.takeError()))
    return std::move(error);
  for (const Layout &layout : layouts()) {
    if (layout.hasDeadline && deadlineSec == 0)
      continue;
    auto program = llvm::sys::findProgramByName(layout.program);
    if (!program)
      return llvm::createStringError(
          program.getError(),
          "graphviz's program '%s' was not found: install graphviz, or write a .dot file",
          layout.program.str().c_str());
    unsigned seconds = layout.hasDeadline ? deadlineSec : 0;
    int code = draw(layout, *program, in->path(), out->path(), messages->path(), seconds);
    if (code == 0)
      return Drawing{out->text(), layout.what.str()};
    if (code != -2)
      return llvm::createStringError(
          "graphviz could not draw this: %s; write a .dot file to see the text",
          StringRef(messages->text()).trim().split('\n').first.str().c_str());
  }
  llvm_unreachable("the last layout has no deadline");
}

} // namespace vetro
