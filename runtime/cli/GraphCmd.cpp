// vetro graph: the model's graph as a drawing, at one of its levels.
#include "runtime/cli/Command.h"
#include "runtime/cli/Output.h"
#include "runtime/cli/OutputFile.h"
#include "runtime/engine/ModelDrawing.h"
#include "runtime/engine/Svg.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

namespace {
struct GraphOptions {
  ModelOptions model;
  viz::DotOptions dot;
  std::string stage = "planned", around, out;
  unsigned deadlineSec = 5;
  bool json = false;
};
} // namespace

/// Splits "blk.3.q_rope:2" into the name and the number of hops.
static llvm::Error readAround(GraphOptions &o) {
  auto [name, hops] = llvm::StringRef(o.around).rsplit(':');
  o.dot.around = name.str();
  if (!hops.empty() && hops.getAsInteger(10, o.dot.hops))
    return llvm::createStringError("--around: '%s' is no number of steps; expected NAME:2",
                                   hops.str().c_str());
  return llvm::Error::success();
}

/// What -o says: "-", or a file that can be written.
static llvm::Error checkDrawing(const GraphOptions &o) {
  if (o.out == "-")
    return o.json ? llvm::createStringError("--json: the drawing goes to stdout already; name a "
                                            "file with -o")
                  : llvm::Error::success();
  if (llvm::Error error = checkOutput(o.out, "-o", {o.model.path}))
    return error;
  llvm::StringRef extension = llvm::sys::path::extension(o.out);
  if (extension == ".dot" || extension == ".svg" || extension == ".gv")
    return llvm::Error::success();
  return llvm::createStringError("-o: %s ends neither in .dot nor in .svg; give it one of the two",
                                 quotedText(o.out).c_str());
}

static llvm::Error writeDrawing(const GraphOptions &o, const std::string &dot) {
  if (o.out == "-") {
    llvm::outs() << dot;
    return llvm::Error::success();
  }
  Drawing drawing{dot, "none"};
  if (llvm::sys::path::extension(o.out) == ".svg") {
    auto svg = drawSvg(dot, o.deadlineSec);
    if (!svg)
      return svg.takeError();
    drawing = std::move(*svg);
    if (drawing.layout != "dot")
      note(o.out + ": drawn by " + drawing.layout + ", as the better layout was not ready in " +
           llvm::Twine(o.deadlineSec) + " s");
  }
  if (llvm::Error error = writeOutput(o.out, [&](llvm::raw_ostream &out) { out << drawing.svg; }))
    return error;
  if (o.json)
    printJson({{"path", o.out}, {"bytes", drawing.svg.size()}, {"layout", drawing.layout}});
  return llvm::Error::success();
}

static llvm::Error graph(GraphOptions o) {
  if (llvm::Error error = checkDrawing(o))
    return error;
  if (llvm::Error error = readAround(o))
    return error;
  auto file = openFile(o.model);
  if (!file)
    return file.takeError();
  auto dot = drawModel(**file, o.model, o.stage, o.dot);
  if (!dot)
    return dot.takeError();
  return writeDrawing(o, *dot);
}

void addGraph(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<GraphOptions>();
  CLI::App *command = program.add_subcommand("graph", "draw the model's graph");
  addFileOptions(*command, o->model);
  addPlanOptions(*command, o->model);
  command->add_option("-o,--output", o->out, "file to write: .svg, .dot, or - for DOT on stdout")
      ->required();
  command->add_option("--stage", o->stage, "frontend: as the papers; fused; planned: as it runs")
      ->check(CLI::IsMember({"frontend", "fused", "planned"}))
      ->capture_default_str();
  auto *layer = command->add_option("--layer", o->dot.layer,
                                    "one layer, or all (default: an overview, each kind once)");
  command->add_option("--around", o->around, "NAME or NAME:STEPS: only what is near this value")
      ->excludes(layer);
  command->add_option("--deadline", o->deadlineSec, "seconds before an SVG gets a faster layout")
      ->check(range(0u, 86400u))
      ->capture_default_str();
  command->add_flag("--json", o->json, "one object: path, bytes, layout");
  command->footer("Examples:\n  vetro graph model.gguf -o model.svg\n"
                  "  vetro graph model.gguf --stage frontend --layer 3 -o layer.svg\n"
                  "  vetro graph model.gguf --around blk.3.q_rope:2 -o near.svg");
  command->callback([o, &exitCode] {
    llvm::Error error = graph(*o);
    exitCode = error ? fail(std::move(error)) : int(Done);
  });
}

} // namespace vetro::cli
