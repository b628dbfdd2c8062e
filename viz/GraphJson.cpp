// Nodes and edges.
#include "viz/GraphJson.h"
#include "compiler/ir/Names.h"

using namespace mlir;

namespace vetro::viz {

using Json = nlohmann::ordered_json;

template <typename T> static std::string textOf(const T &printable) {
  std::string text;
  llvm::raw_string_ostream(text) << printable;
  return text;
}

/// Attributes that say what an op does: no names, no places in memory.
static Json attributesOf(Operation *op) {
  Json attributes = Json::object();
  for (NamedAttribute attribute : op->getAttrs()) {
    StringRef name = attribute.getName().strref();
    if (name != "names" && name != "operandSegmentSizes" && !name.starts_with("vetro."))
      attributes[name.str()] = textOf(attribute.getValue());
  }
  return attributes;
}

static Json namesInside(Operation *op) {
  Json names = Json::array();
  auto list = op->getAttrOfType<ArrayAttr>("names");
  for (Attribute name : list ? list.getValue() : ArrayRef<Attribute>())
    if (auto text = dyn_cast<StringAttr>(name); text && !text.empty())
      names.push_back(text.getValue().str());
  return names;
}

/// The words of a drawing.
static Json drawnJson(const NodeText &text) {
  Json results = Json::array(), operands = Json::array();
  for (const ResultText &result : text.results)
    results.push_back({{"name", result.name}, {"type", result.type}});
  for (const OperandText &o : text.operands)
    operands.push_back(
        {{"text", o.text}, {"port", o.port}, {"inside", o.inside}, {"handle", o.handle}});
  return {{"op", text.op},      {"kind", text.kindOf().name}, {"shape", text.shape},
          {"results", results}, {"operands", operands},       {"lines", text.lines}};
}

static Json nodeJson(const Node &node) {
  Json inputs = Json::array();
  for (Value v : node.inside)
    inputs.push_back(valueName(v));
  static constexpr const char *parts[] = {"", "attn", "ffn"};
  return {{"id", node.id},
          {"name", node.name},
          {"op", node.op->getName().stripDialect().str()},
          {"layer", node.layer},
          {"part", parts[int(node.part)]},
          {"type", node.op->getNumResults() ? textOf(node.op->getResult(0).getType()) : ""},
          {"inside", namesInside(node.op)},
          {"inputs", inputs},
          {"attributes", attributesOf(node.op)},
          {"source", ir::sourceOf(node.op->getLoc())},
          {"drawn", drawnJson(node.text)}};
}

Json toJson(const Picture &picture) {
  Json nodes = Json::array(), edges = Json::array();
  for (const Node &node : picture.nodes())
    nodes.push_back(nodeJson(node));
  for (const Edge &edge : picture.edges())
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"value", picture.valueOf(edge).name},
                     {"operand", edge.operand},
                     {"result", edge.result}});
  return {{"nodes", nodes}, {"edges", edges}};
}

Json part(const Json &graph, llvm::ArrayRef<unsigned> nodes) {
  std::map<size_t, size_t> places;
  Json kept = {{"nodes", Json::array()}, {"edges", Json::array()}};
  for (unsigned node : nodes) {
    places[node] = kept["nodes"].size();
    kept["nodes"].push_back(graph["nodes"][node]);
  }
  for (Json edge : graph["edges"]) {
    auto from = places.find(edge["from"]), to = places.find(edge["to"]);
    if (from == places.end() || to == places.end())
      continue;
    edge["from"] = from->second, edge["to"] = to->second;
    kept["edges"].push_back(std::move(edge));
  }
  return kept;
}

// ---- back ----

using Type = Json::value_t;
static constexpr Type aText = Type::string, aList = Type::array, anObject = Type::object,
                      aNumber = Type::number_unsigned, aFlag = Type::boolean;

/// Whether a field is there and of a type; whole numbers are of one.
static bool has(const Json &object, const char *field, Json::value_t type) {
  if (!object.is_object() || !object.contains(field))
    return false;
  const Json &value = object[field];
  return value.type() == type || (type == aNumber && value.is_number_integer());
}

/// Whether a field is a list of texts.
static bool hasTexts(const Json &object, const char *field) {
  return has(object, field, aList) &&
         llvm::all_of(object[field], [](const Json &item) { return item.is_string(); });
}

static bool isDrawn(const Json &node) {
  if (!has(node, "drawn", anObject))
    return false;
  const Json &drawn = node["drawn"];
  bool sound = has(drawn, "op", aText) && has(drawn, "kind", aText) && has(drawn, "shape", aText);
  for (const char *list : {"results", "operands", "lines"})
    sound = sound && has(drawn, list, aList);
  for (size_t i = 0; sound && i < drawn["results"].size(); ++i)
    sound = has(drawn["results"][i], "name", aText) && has(drawn["results"][i], "type", aText);
  for (size_t i = 0; sound && i < drawn["operands"].size(); ++i) {
    const Json &operand = drawn["operands"][i];
    sound = has(operand, "text", aText) && has(operand, "port", aText) &&
            has(operand, "inside", aFlag) && has(operand, "handle", aFlag);
  }
  return sound && llvm::all_of(drawn["lines"], [](const Json &line) { return line.is_string(); });
}

static NodeText textFrom(const Json &node) {
  const Json &drawn = node["drawn"];
  NodeText text{drawn["op"]};
  for (auto [i, kind] : llvm::enumerate(kinds()))
    if (drawn["kind"] == kind.name.str())
      text.kind = unsigned(i);
  text.shape = drawn["shape"];
  for (const Json &result : drawn["results"])
    text.results.push_back({result["name"], result["type"]});
  for (const Json &o : drawn["operands"])
    text.operands.push_back({o["text"], o["port"], o["inside"], o["handle"]});
  for (const Json &line : drawn["lines"])
    text.lines.push_back(line);
  for (const Json &name : node["inside"])
    text.inner.push_back(name);
  return text;
}

/// Empty: the node is none.
static std::optional<Node> nodeFrom(const Json &json) {
  bool sound = has(json, "layer", aNumber) && hasTexts(json, "inside") &&
               hasTexts(json, "inputs") && has(json, "attributes", anObject) && isDrawn(json);
  for (const char *field : {"id", "name", "op", "part", "type", "source"})
    sound = sound && has(json, field, aText);
  for (const Json &value : sound ? json["attributes"] : Json())
    sound &= value.is_string();
  if (!sound || !llvm::all_of(json["inside"], [](const Json &name) { return name.is_string(); }))
    return {};
  Part part = json["part"] == "attn" ? Part::Attn : json["part"] == "ffn" ? Part::Ffn : Part::None;
  return Node{nullptr, json["name"], json["id"], json["layer"], part, {}, textFrom(json)};
}

// ---- traces from before nodes had words ----

static bool lacksWords(const Json &node) {
  return node.is_object() && !node.contains("drawn") && has(node, "op", aText) &&
         has(node, "name", aText) && has(node, "type", aText) && hasTexts(node, "inputs") &&
         has(node, "attributes", anObject);
}

static Json operandJson(const Json &text, bool inside) {
  return {{"text", text}, {"port", ""}, {"inside", inside}, {"handle", false}};
}

/// Words of a node from its other fields; edges add what reaches it.
static Json wordsOf(const Json &node) {
  Json lines = Json::array();
  for (const auto &[key, value] : node["attributes"].items())
    if (value.is_string())
      lines.push_back(key + " " + value.get_ref<const std::string &>());
  const std::string &op = node["op"].get_ref<const std::string &>();
  return {{"op", "vetro." + op},
          {"kind", kinds()[kindNamed(op)].name},
          {"shape", ""},
          {"results", {{{"name", node["name"]}, {"type", node["type"]}}}},
          {"operands", Json::array()},
          {"lines", lines}};
}

/// The place of a value among a node's results, where it is put if it is new.
static size_t resultPlace(Json &results, const Json &name) {
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i]["name"] == name)
      return i;
  results.push_back({{"name", name}, {"type", ""}});
  return results.size() - 1;
}

/// Gives words to nodes without, and to edges which result they carry.
static Json withWords(Json graph) {
  Json &nodes = graph["nodes"];
  std::vector<bool> old;
  for (Json &node : nodes) {
    old.push_back(lacksWords(node));
    if (old.back())
      node["drawn"] = wordsOf(node);
  }
  auto isPlace = [&](const Json &edge, const char *field, size_t limit) {
    return has(edge, field, aNumber) && edge[field] >= 0 && edge[field] < limit;
  };
  for (Json &edge : graph["edges"]) {
    if (!isPlace(edge, "from", nodes.size()) || !isPlace(edge, "to", nodes.size()) ||
        !isPlace(edge, "operand", 64) || !has(edge, "value", aText))
      continue;
    if (size_t from = edge["from"]; old[from] && !edge.contains("result"))
      edge["result"] = resultPlace(nodes[from]["drawn"]["results"], edge["value"]);
    if (size_t to = edge["to"]; old[to])
      for (Json &operands = nodes[to]["drawn"]["operands"]; operands.size() <= edge["operand"];)
        operands.push_back(operandJson(edge["value"], false));
  }
  for (size_t i = 0; i < nodes.size(); ++i)
    if (old[i])
      for (const Json &input : nodes[i]["inputs"])
        nodes[i]["drawn"]["operands"].push_back(operandJson(input, true));
  return graph;
}

// ---- pictures ----

llvm::Expected<Picture> pictureOf(const Json &written) {
  if (!has(written, "nodes", aList) || !has(written, "edges", aList))
    return llvm::createStringError("the graph has no lists of nodes and edges");
  const Json graph = withWords(written);
  std::vector<Node> nodes;
  for (const Json &json : graph["nodes"]) {
    std::optional<Node> node = nodeFrom(json);
    if (!node)
      return llvm::createStringError("node %zu of the graph lacks what its drawing needs",
                                     nodes.size());
    nodes.push_back(std::move(*node));
  }
  std::vector<Edge> edges;
  for (const Json &json : graph["edges"]) {
    auto place = [&](const char *field, size_t limit) {
      bool sound = has(json, field, aNumber) && json[field] >= 0 && json[field] < limit;
      return sound ? json[field].get<unsigned>() : unsigned(limit);
    };
    size_t n = nodes.size();
    Edge edge{place("from", n), place("to", n), {}, 0, 0};
    if (edge.from < n && edge.to < n) {
      edge.operand = place("operand", nodes[edge.to].text.operands.size());
      edge.result = place("result", nodes[edge.from].text.results.size());
    }
    if (edge.from == n || edge.to == n || edge.operand == nodes[edge.to].text.operands.size() ||
        edge.result == nodes[edge.from].text.results.size())
      return llvm::createStringError("edge %zu of the graph leads nowhere", edges.size());
    edges.push_back(edge);
  }
  return Picture(std::move(nodes), std::move(edges));
}

} // namespace vetro::viz
