// Numbers beside the nodes of a drawing: what a step took, how many bytes it read, how far it is
// off.
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace vetro::viz {

struct Overlay {
  struct Mark {
    double share = 0; ///< 0 to 1: how strongly it is coloured
    std::string text; ///< "12.3 µs"
  };
  std::string title;           ///< "time"
  llvm::StringMap<Mark> marks; ///< by a node's id

  /// "#ffd9b3": white for 0, red for 1.
  static std::string colour(double share);
};

/// The step of the plan of each node of a planned graph (GraphJson.h) that is one, by its id.
/// `steps`: a trace's. Nodes stand in the plan's order.
llvm::StringMap<size_t> stepsOfNodes(const nlohmann::ordered_json &graph,
                                     const nlohmann::ordered_json &steps);

/// Microseconds of each step, the median over the batches of one token (of all, where there are
/// none).
Overlay timeOverlay(const nlohmann::ordered_json &graph, const nlohmann::ordered_json &trace);
/// Bytes of weights that each step reads.
Overlay bytesOverlay(const nlohmann::ordered_json &graph, const nlohmann::ordered_json &trace);
/// The signal-to-noise ratio of each value, from what `vetro diff --json` printed: a step has that
/// of its worst value. Error: it is something else.
llvm::Expected<Overlay> errorOverlay(const nlohmann::ordered_json &graph,
                                     const nlohmann::ordered_json &diff);

} // namespace vetro::viz
