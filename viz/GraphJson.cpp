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
          {"source", ir::sourceOf(node.op->getLoc())}};
}

Json toJson(const Picture &picture) {
  Json nodes = Json::array(), edges = Json::array();
  for (const Node &node : picture.nodes())
    nodes.push_back(nodeJson(node));
  for (const Edge &edge : picture.edges())
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"value", valueName(edge.value)},
                     {"operand", edge.operand}});
  return {{"nodes", nodes}, {"edges", edges}};
}

} // namespace vetro::viz
