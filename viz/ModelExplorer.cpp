// One graph collection with one graph.
#include "viz/ModelExplorer.h"

#include <nlohmann/json.hpp>

namespace vetro::viz {

using Json = nlohmann::ordered_json;

static std::string folderOf(const Json &node) {
  int layer = node["layer"];
  const std::string &part = node["part"].get_ref<const std::string &>();
  if (layer < 0)
    return "";
  return "blk." + std::to_string(layer) + (part.empty() ? "" : "/" + part);
}

static Json attributesOf(const Json &node, const Overlay *overlay) {
  Json attributes = Json::array();
  auto add = [&](const std::string &key, std::string value) {
    if (!value.empty())
      attributes.push_back({{"key", key}, {"value", std::move(value)}});
  };
  auto joined = [](const Json &list) {
    std::string text;
    for (const Json &item : list)
      text += (text.empty() ? "" : ", ") + item.get<std::string>();
    return text;
  };
  add("name", node["name"]);
  add("reads", joined(node["inputs"]));
  add("inside", joined(node["inside"]));
  for (auto it = node["attributes"].begin(); it != node["attributes"].end(); ++it)
    add(it.key(), it.value());
  add("source", node["source"]);
  if (overlay)
    if (auto mark = overlay->marks.find(node["id"].get_ref<const std::string &>());
        mark != overlay->marks.end())
      add(overlay->title, mark->second.text);
  return attributes;
}

static Json nodeOf(const Json &node, const Overlay *overlay) {
  Json outputs = Json::array();
  if (node["type"] != "")
    outputs.push_back({{"id", "0"}, {"attrs", {{{"key", "type"}, {"value", node["type"]}}}}});
  Json json = {{"id", node["id"]},
               {"label", node["op"]},
               {"namespace", folderOf(node)},
               {"attrs", attributesOf(node, overlay)},
               {"incomingEdges", Json::array()},
               {"outputsMetadata", outputs}};
  if (overlay)
    if (auto mark = overlay->marks.find(node["id"].get_ref<const std::string &>());
        mark != overlay->marks.end())
      json["style"] = {{"backgroundColor", Overlay::colour(mark->second.share)}};
  return json;
}

Json toModelExplorer(const Json &graph, llvm::StringRef title, const Overlay *overlay) {
  Json nodes = Json::array();
  for (const Json &node : graph["nodes"])
    nodes.push_back(nodeOf(node, overlay));
  for (const Json &edge : graph["edges"])
    nodes[edge["to"].get<size_t>()]["incomingEdges"].push_back(
        {{"sourceNodeId", graph["nodes"][edge["from"].get<size_t>()]["id"]},
         {"sourceNodeOutputId", std::to_string(edge["result"].get<int>())},
         {"targetNodeInputId", std::to_string(edge["operand"].get<int>())}});
  return {{"label", title.str()}, {"graphs", {{{"id", title.str()}, {"nodes", nodes}}}}};
}

} // namespace vetro::viz
