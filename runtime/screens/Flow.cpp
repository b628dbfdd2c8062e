// Edges of the planned graph.
#include "runtime/screens/Flow.h"
#include "viz/GraphJson.h"
#include "viz/Overlay.h"

namespace vetro::screens {

/// The trace's planned graph, whose form viz::pictureOf() has checked.
static llvm::Expected<Json> plannedGraph(const Recording &r) {
  const Json &graphs = r.document()["graphs"];
  if (!graphs.contains("planned") || !graphs["planned"].is_string())
    return llvm::createStringError(r.trace().path() + ": holds no planned graph");
  auto text = r.trace().read(graphs["planned"].get<std::string>());
  if (!text)
    return text.takeError();
  Json graph = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (auto picture = viz::pictureOf(graph); !picture)
    return llvm::createStringError(r.trace().path() + ": its planned graph is damaged: " +
                                   llvm::toString(picture.takeError()));
  return graph;
}

llvm::Expected<std::vector<size_t>> stepsBeside(const Recording &r, size_t op, bool users) {
  auto graph = plannedGraph(r);
  if (!graph)
    return graph.takeError();
  const Json &nodes = (*graph)["nodes"];
  auto steps = viz::stepsOfNodes(*graph, r.document()["steps"]);
  auto stepOf = [&](size_t node) {
    return steps.find(nodes[node]["id"].get_ref<const std::string &>());
  };
  std::vector<size_t> queue, found;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (auto step = stepOf(i); step != steps.end() && step->second == op)
      queue.push_back(i);
  for (size_t i = 0; i < queue.size() && i < nodes.size(); ++i)
    for (const Json &edge : (*graph)["edges"]) {
      if (edge[users ? "from" : "to"] != queue[i])
        continue;
      size_t other = edge[users ? "to" : "from"];
      if (auto step = stepOf(other); step == steps.end())
        queue.push_back(other); // only gives the numbers another shape
      else if (!llvm::is_contained(found, step->second))
        found.push_back(step->second);
    }
  return found;
}

} // namespace vetro::screens
