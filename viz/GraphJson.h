// A graph as JSON: the nodes and edges that its drawing has, for programs that draw it themselves.
#pragma once

#include "viz/Picture.h"

#include "llvm/Support/Error.h"

#include <nlohmann/json.hpp>

namespace vetro::viz {

/// {"nodes": [{"id", "name", "op", "layer", "part", "type", "inside": names of values that it
/// swallowed, "inputs": what is written inside the node, "attributes", "source"}], "edges":
/// [{"from", "to", "value", "operand", "result"}]}. Edges name places in "nodes". A node's
/// "drawn" has the words of its drawing (NodeText.h).
nlohmann::ordered_json toJson(const Picture &picture);
/// The graph with some of its nodes only, by their places in order, and the edges between them.
nlohmann::ordered_json part(const nlohmann::ordered_json &graph, llvm::ArrayRef<unsigned> nodes);
/// A picture from what toJson() made, also before nodes had "drawn": then of what else they have.
/// Error: what is missing or of another kind.
llvm::Expected<Picture> pictureOf(const nlohmann::ordered_json &graph);

} // namespace vetro::viz
