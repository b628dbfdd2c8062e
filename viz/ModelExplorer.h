// A graph as a file that Google's Model Explorer opens: layers and their halves are its folders.
// Format: google-ai-edge/model-explorer, graph_builder.py and node_data_builder.py.
#pragma once

#include "viz/Overlay.h"

namespace vetro::viz {

/// `graph` is GraphJson.h's; `title` names it. Marks become attributes and colours of nodes.
nlohmann::ordered_json toModelExplorer(const nlohmann::ordered_json &graph, llvm::StringRef title,
                                       const Overlay *overlay = nullptr);

} // namespace vetro::viz
