// vetro graph: the model's graph as a drawing, at one of its levels.
#include "runtime/cli/Command.h"
#include "runtime/cli/Output.h"
#include "runtime/cli/OutputFile.h"
#include "runtime/cli/Recordings.h"
#include "runtime/engine/ModelDrawing.h"
#include "runtime/engine/Program.h"
#include "runtime/engine/Svg.h"
#include "runtime/engine/TraceModel.h"
#include "runtime/trace/TraceFile.h"
#include "viz/GraphJson.h"
#include "viz/ModelExplorer.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

namespace {
struct GraphOptions {
  ModelOptions model;
  viz::DotOptions dot;
  std::string stage = "planned", around, out, overlay, trace, diff;
  unsigned deadlineSec = 5;
  bool json = false, modelExplorer = false;
};

/// A graph to draw, and what a trace says of it.
struct Source {
  std::optional<Graph> graph;       ///< of a model
  std::unique_ptr<Program> program; ///< of an .mlir file
  std::unique_ptr<TraceFile> trace;
  Json json;
  std::optional<viz::Picture> picture;
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
  if (o.modelExplorer && extension != ".json")
    return llvm::createStringError(
        "--model-explorer: the file is JSON; name one that ends in .json");
  if (extension == ".dot" || extension == ".svg" || extension == ".gv" || extension == ".json")
    return llvm::Error::success();
  return llvm::createStringError(
      "-o: %s ends neither in .dot nor in .svg nor in .json; give it one "
      "of them",
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

// ---- the graph ----

static llvm::Expected<Json> readGraph(const TraceFile &trace, const std::string &stage) {
  const Json &graphs = trace.document()["graphs"];
  if (!graphs.contains(stage) || !graphs[stage].is_string())
    return llvm::createStringError(trace.path() + ": has no graph of stage " + stage);
  auto text = trace.read(graphs[stage].get<std::string>());
  if (!text)
    return text.takeError();
  return Json::parse(*text, nullptr, /*allow_exceptions=*/false);
}

/// The graph of a trace, of MLIR text, or of a model at a stage; with --trace what ran of it.
static llvm::Expected<Source> openSource(GraphOptions &o) {
  Source s;
  bool traced = isTrace(o.model.path);
  if (traced && !o.trace.empty())
    return llvm::createStringError("--trace: %s is a trace already", o.model.path.c_str());
  if (std::string path = traced ? o.model.path : o.trace; !path.empty()) {
    auto trace = TraceFile::open(path);
    if (!trace)
      return trace.takeError();
    s.trace = std::move(*trace);
  }
  if (llvm::sys::path::extension(o.model.path) == ".mlir") {
    auto program = Program::open(o.model.path);
    if (!program)
      return program.takeError();
    s.program = std::move(*program);
    s.picture.emplace(s.program->function());
    s.json = viz::toJson(*s.picture);
    return s;
  }
  if (traced) {
    auto json = readGraph(*s.trace, o.stage);
    auto picture = json ? viz::pictureOf(*json) : json.takeError();
    if (!picture)
      return llvm::createStringError(s.trace->path() + ": " + llvm::toString(picture.takeError()));
    s.json = std::move(*json), s.picture.emplace(std::move(*picture));
    if (o.dot.layer.empty()) // which layers are alike only the graph itself tells
      o.dot.layer = "all";
    return s;
  }
  auto file = openFile(o.model);
  if (!file)
    return file.takeError();
  if (s.trace && modelHash(**file) != s.trace->document()["model"]["hash"].get<std::string>())
    return llvm::createStringError(s.trace->path() + ": is of another model than " + o.model.path);
  auto graph = modelGraph(**file, o.model, o.stage);
  if (!graph)
    return graph.takeError();
  s.graph.emplace(std::move(*graph));
  s.picture.emplace(s.graph->forward());
  s.json = viz::toJson(*s.picture);
  return s;
}

/// The numbers that --overlay asks for. Error: what they are made of is not given.
static llvm::Expected<viz::Overlay> overlayOf(const GraphOptions &o, const Source &s) {
  auto refused = [&](const char *why) {
    return llvm::createStringError("--overlay %s: %s", o.overlay.c_str(), why);
  };
  if (o.overlay == "error") {
    auto text = o.diff.empty() ? refused("give what vetro diff --json printed, with --diff FILE")
                               : readWhole(o.diff);
    if (!text)
      return text.takeError();
    auto overlay = viz::errorOverlay(s.json, Json::parse(*text, nullptr, false));
    if (!overlay)
      return llvm::createStringError(o.diff + ": " + llvm::toString(overlay.takeError()));
    return overlay;
  }
  if (!s.trace)
    return refused("a run is needed: give one with --trace FILE (vetro run --trace)");
  if (o.stage != "planned")
    return refused("times are those of the planned graph's steps; leave --stage out");
  const Json &document = s.trace->document();
  auto overlay = o.overlay == "time" ? viz::timeOverlay(s.json, document)
                                     : viz::bytesOverlay(s.json, document);
  if (overlay.marks.size() != document["steps"].size())
    return refused("the trace is of another graph: it was made with other options");
  return overlay;
}

/// As JSON, ours or Model Explorer's.
static llvm::Error writeJson(const GraphOptions &o, const Source &s) {
  auto nodes = viz::nodesOf(*s.picture, o.dot);
  if (!nodes)
    return nodes.takeError();
  Json json = viz::part(s.json, *nodes);
  if (o.modelExplorer)
    json = viz::toModelExplorer(json, o.dot.title, o.dot.overlay);
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (llvm::Error error = writeOutput(o.out, [&](llvm::raw_ostream &out) { out << text; }))
    return error;
  if (o.json)
    printJson({{"path", o.out}, {"bytes", text.size()}, {"layout", "none"}});
  return llvm::Error::success();
}

static llvm::Error graph(GraphOptions o) {
  if (llvm::Error error = checkDrawing(o))
    return error;
  if (llvm::Error error = readAround(o))
    return error;
  auto source = openSource(o);
  if (!source)
    return source.takeError();
  o.dot.title = llvm::sys::path::filename(o.model.path).str();
  if (!source->program)
    o.dot.title += ",  " + o.stage;
  viz::Overlay overlay;
  if (!o.overlay.empty()) {
    auto made = overlayOf(o, *source);
    if (!made)
      return made.takeError();
    overlay = std::move(*made);
    o.dot.overlay = &overlay;
    o.dot.title += ",  " + overlay.title;
  }
  if (llvm::sys::path::extension(o.out) == ".json")
    return writeJson(o, *source);
  auto dot = viz::toDot(*source->picture, "forward", o.dot);
  return dot ? writeDrawing(o, *dot) : dot.takeError();
}

void addGraph(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<GraphOptions>();
  CLI::App *command =
      program.add_subcommand("graph", "draw the graph of a model, a trace or MLIR text");
  addFileOptions(*command, o->model);
  addPlanOptions(*command, o->model);
  command
      ->add_option("-o,--output", o->out,
                   "file to write: .svg, .dot, .json, or - for DOT on stdout")
      ->required();
  command->add_option("--stage", o->stage, "frontend: as the papers; fused; planned: as it runs")
      ->check(CLI::IsMember({"frontend", "fused", "planned"}))
      ->capture_default_str();
  auto *layer = command->add_option("--layer", o->dot.layer,
                                    "one layer, or all (default: an overview, each kind once)");
  command->add_option("--around", o->around, "NAME or NAME:STEPS: only what is near this value")
      ->excludes(layer);
  command->add_option("--overlay", o->overlay, "numbers beside the nodes, and colours by them")
      ->check(CLI::IsMember({"time", "bytes", "error"}));
  command->add_option("--trace", o->trace, "the run that times and bytes are of");
  command->add_option("--diff", o->diff, "the comparison that errors are of: vetro diff --json");
  command->add_flag("--model-explorer", o->modelExplorer,
                    "the .json is for Google's Model Explorer");
  command->add_option("--deadline", o->deadlineSec, "seconds before an SVG gets a faster layout")
      ->check(range(0u, 86400u))
      ->capture_default_str();
  command->add_flag("--json", o->json, "one object: path, bytes, layout");
  command->footer("Examples:\n  vetro graph model.gguf -o model.svg\n"
                  "  vetro graph model.gguf --stage frontend --layer 3 -o layer.svg\n"
                  "  vetro graph model.gguf --around blk.3.q_rope:2 -o near.svg\n"
                  "  vetro graph model.gguf --trace run.vtrace --overlay time -o time.svg\n"
                  "  vetro graph run.vtrace --layer 3 --model-explorer -o layer.json\n"
                  "  vetro graph product.mlir -o product.svg");
  command->callback([o, &exitCode] {
    llvm::Error error = graph(*o);
    exitCode = error ? fail(std::move(error)) : int(Done);
  });
}

} // namespace vetro::cli
