// A graph as JSON: the nodes and edges that its drawing has, for programs that draw it themselves.
#pragma once

#include "viz/Picture.h"

#include <nlohmann/json.hpp>

namespace vetro::viz {

/// {"nodes": [{"id", "name", "op", "layer", "part", "type", "inside": names of values that it
/// swallowed, "inputs": what is written inside the node, "attributes", "source"}], "edges":
/// [{"from", "to", "value", "operand"}]}. Edges name places in "nodes".
nlohmann::ordered_json toJson(const Picture &picture);

} // namespace vetro::viz
