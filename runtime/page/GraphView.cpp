// The drawing of one layer, from what the trace keeps of the graph.
#include "runtime/engine/Svg.h"
#include "runtime/page/Views.h"
#include "viz/Dot.h"
#include "viz/GraphJson.h"

namespace vetro::page {

/// The graph of a stage ("planned") as the trace keeps it. Error: it keeps none.
static llvm::Expected<Json> graphOf(Viewer &viewer, const std::string &stage) {
  const Json &graphs = viewer.document()["graphs"];
  if (!graphs.contains(stage) || !graphs[stage].is_string())
    return llvm::createStringError("the trace keeps no graph " + screens::shown(stage));
  const TraceFile &trace = viewer.recording().trace();
  auto text = trace.read(graphs[stage].get<std::string>());
  if (!text)
    return text.takeError();
  return Json::parse(*text, nullptr, /*allow_exceptions=*/false);
}

/// What stands beside the nodes; none: nothing. Only a planned graph has steps. Error: there is no
/// such thing; the comparison is something else.
static llvm::Expected<std::optional<viz::Overlay>> overlayOf(Viewer &viewer, const Json &graph,
                                                             const Request &request) {
  std::string beside = request.text("beside");
  if (beside.empty() || request.text("stage") != "planned")
    return std::nullopt;
  if (beside == "time")
    return viz::timeOverlay(graph, viewer.document());
  if (beside == "bytes")
    return viz::bytesOverlay(graph, viewer.document());
  if (beside == "error" && !viewer.diff().is_null())
    return viz::errorOverlay(graph, viewer.diff());
  return llvm::createStringError("graph: beside: found '" + screens::shown(beside) +
                                 "', expected time, bytes, or with --diff error");
}

Answer graphView(Viewer &viewer, const Request &request) {
  constexpr unsigned deadlineSec = 5;
  auto layer = request.number("layer", 100000);
  if (!layer)
    return layer.takeError();
  auto graph = graphOf(viewer, request.text("stage"));
  if (!graph)
    return graph.takeError();
  auto picture = viz::pictureOf(*graph);
  if (!picture)
    return llvm::createStringError(viewer.recording().trace().path() + ": graph." +
                                   request.text("stage") +
                                   ".json: " + llvm::toString(picture.takeError()));
  auto overlay = overlayOf(viewer, *graph, request);
  if (!overlay)
    return overlay.takeError();
  viz::DotOptions options;
  options.layer = std::to_string(*layer);
  options.overlay = *overlay ? &**overlay : nullptr;
  auto dot = viz::toDot(*picture, request.text("stage"), options);
  if (!dot)
    return dot.takeError();
  auto drawing = drawSvg(*dot, deadlineSec);
  if (!drawing)
    return drawing.takeError();
  Json names = Json::object(); // of the nodes' ids: the value that each computes
  for (const viz::Node &node : picture->nodes())
    if (node.layer == int64_t(*layer) && !node.name.empty())
      names[node.id] = node.name;
  return Json{{"svg", drawing->svg}, {"names", names}};
}

} // namespace vetro::page
