// Edges of the planned graph.
#include "runtime/screens/Flow.h"

namespace vetro::screens {

static llvm::Expected<Json> plannedGraph(const Recording &r) {
  const Json &d = r.document();
  if (!d["graphs"].contains("planned") || !d["graphs"]["planned"].is_string())
    return llvm::createStringError(r.trace().path() + ": holds no planned graph");
  auto text = r.trace().read(d["graphs"]["planned"].get<std::string>());
  if (!text)
    return text.takeError();
  Json graph = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  auto isText = [](const Json &object, const char *field) {
    return object.is_object() && object.contains(field) && object[field].is_string();
  };
  bool sound = graph.is_object() && graph.contains("nodes") && graph["nodes"].is_array() &&
               graph.contains("edges") && graph["edges"].is_array();
  for (size_t i = 0; sound && i < graph["nodes"].size(); ++i)
    for (const char *field : {"id", "name", "op"})
      sound &= isText(graph["nodes"][i], field);
  for (size_t i = 0; sound && i < graph["edges"].size(); ++i)
    sound &= isText(graph["edges"][i], "from") && isText(graph["edges"][i], "to");
  if (!sound)
    return llvm::createStringError(r.trace().path() + ": its planned graph is damaged");
  return graph;
}

/// The step of each node, in order: nodes are in the plan's order, those that are no steps between.
static std::map<std::string, size_t> stepsOfNodes(const Json &graph, const Json &steps) {
  std::map<std::string, size_t> result;
  size_t next = 0;
  for (const Json &node : graph["nodes"]) {
    if (next == steps.size())
      break;
    const Json &step = steps[next];
    if (node["op"] == step["op"] && (step["name"] == "" || node["name"] == step["name"]))
      result[node["id"]] = next++;
  }
  return result;
}

llvm::Expected<std::vector<size_t>> stepsBeside(const Recording &r, size_t op, bool users) {
  auto graph = plannedGraph(r);
  if (!graph)
    return graph.takeError();
  auto steps = stepsOfNodes(*graph, r.document()["steps"]);
  std::vector<std::string> queue;
  for (const auto &[id, step] : steps)
    if (step == op)
      queue.push_back(id);
  std::vector<size_t> found;
  for (size_t i = 0; i < queue.size() && i < (*graph)["nodes"].size(); ++i)
    for (const Json &edge : (*graph)["edges"]) {
      if (edge[users ? "from" : "to"] != queue[i])
        continue;
      std::string other = edge[users ? "to" : "from"];
      if (auto step = steps.find(other); step == steps.end())
        queue.push_back(other);
      else if (!llvm::is_contained(found, step->second))
        found.push_back(step->second);
    }
  return found;
}

} // namespace vetro::screens
