// The drawing of one layer, from what the trace keeps of the graph.
#include "runtime/engine/Svg.h"
#include "runtime/page/Views.h"
#include "viz/Dot.h"
#include "viz/GraphJson.h"

namespace vetro::page {

/// The graph of a stage ("planned"). Error: the trace keeps none, or it is damaged.
static llvm::Expected<viz::Picture> pictureOf(Viewer &viewer, const std::string &stage) {
  const Json &graphs = viewer.document()["graphs"];
  if (!graphs.contains(stage) || !graphs[stage].is_string())
    return llvm::createStringError("the trace keeps no graph " + screens::shown(stage));
  const TraceFile &trace = viewer.recording().trace();
  auto text = trace.read(graphs[stage].get<std::string>());
  if (!text)
    return text.takeError();
  Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  auto picture = viz::pictureOf(json);
  if (!picture)
    return llvm::createStringError(trace.path() + ": " + graphs[stage].get<std::string>() + ": " +
                                   llvm::toString(picture.takeError()));
  return picture;
}

Answer graphView(Viewer &viewer, const Request &request) {
  constexpr unsigned deadlineSec = 5;
  auto layer = request.number("layer", 100000);
  if (!layer)
    return layer.takeError();
  auto picture = pictureOf(viewer, request.text("stage"));
  if (!picture)
    return picture.takeError();
  viz::DotOptions options;
  options.layer = std::to_string(*layer);
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
