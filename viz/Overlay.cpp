// Marks from traces and comparisons.
#include "viz/Overlay.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace vetro::viz {

using Json = nlohmann::ordered_json;

std::string Overlay::colour(double share) {
  // From white over orange to red; the root keeps small shares apart.
  double t = std::sqrt(std::clamp(share, 0.0, 1.0));
  auto part = [&](double white, double red) { return unsigned(white + (red - white) * t); };
  return llvm::formatv("#{0:x-2}{1:x-2}{2:x-2}", part(255, 240), part(255, 100), part(255, 60))
      .str();
}

llvm::StringMap<size_t> stepsOfNodes(const Json &graph, const Json &steps) {
  llvm::StringMap<size_t> result;
  size_t next = 0;
  for (const Json &node : graph["nodes"]) {
    if (next == steps.size())
      break;
    const Json &step = steps[next];
    if (node["op"] == step["op"] && (step["name"] == "" || node["name"] == step["name"]))
      result[node["id"].get_ref<const std::string &>()] = next++;
  }
  return result;
}

/// A mark for each step, as large as its number among all.
static Overlay ofSteps(const Json &graph, const Json &steps, const char *title,
                       llvm::ArrayRef<double> numbers,
                       llvm::function_ref<std::string(double)> words) {
  Overlay overlay{title, {}};
  double most = 0, sum = 0;
  for (double x : numbers)
    most = std::max(most, x), sum += x;
  overlay.title += ", " + words(sum) + " in all";
  for (const auto &[id, step] : stepsOfNodes(graph, steps))
    overlay.marks[id] = {most > 0 ? numbers[step] / most : 0, words(numbers[step])};
  return overlay;
}

Overlay timeOverlay(const Json &graph, const Json &trace) {
  const Json &batches = trace["batches"];
  bool single = llvm::any_of(batches, [](const Json &b) { return b["tokens"] == 1; });
  std::vector<double> numbers;
  for (size_t step = 0; step < trace["steps"].size(); ++step) {
    std::vector<double> us;
    for (const Json &batch : batches)
      if (!single || batch["tokens"] == 1)
        us.push_back(batch["step_us"][step]);
    llvm::sort(us);
    numbers.push_back(us.empty() ? 0 : us[us.size() / 2]);
  }
  return ofSteps(graph, trace["steps"], single ? "time of a token" : "time of a batch", numbers,
                 [](double us) { return llvm::formatv("{0:f1} µs", us).str(); });
}

Overlay bytesOverlay(const Json &graph, const Json &trace) {
  std::vector<double> numbers;
  for (const Json &step : trace["steps"])
    numbers.push_back(step["weight_bytes"]);
  return ofSteps(graph, trace["steps"], "weights read", numbers,
                 [](double bytes) { return llvm::formatv("{0:f1} kB", bytes / 1e3).str(); });
}

/// The larger ratio of graph and kernel error to their floors; negative: neither is there.
static double ratioOf(const Json &row) {
  double ratio = -1;
  for (const char *kind : {"graph", "kernel"})
    if (auto found = row.find(kind); found != row.end() && found->is_object())
      if (auto r = found->find("ratio"); r != found->end() && r->is_number())
        ratio = std::max(ratio, r->get<double>());
  return ratio;
}

llvm::Expected<Overlay> errorOverlay(const Json &graph, const Json &diff) {
  if (!diff.is_object() || !diff.contains("rows") || !diff["rows"].is_array())
    return llvm::createStringError("it is not what vetro diff --json prints");
  std::map<std::string, std::pair<double, std::string>> rows;
  for (const Json &row : diff["rows"]) {
    if (!row.is_object() || !row.contains("name") || !row["name"].is_string())
      return llvm::createStringError("it is not what vetro diff --json prints");
    bool hasSnr = row.contains("snr_db") && row["snr_db"].is_number();
    std::string words =
        hasSnr ? llvm::formatv("{0:f1} dB", row["snr_db"].get<double>()).str() : "equal";
    double ratio = ratioOf(row);
    if (ratio >= 0)
      words += llvm::formatv(", {0:f2} of its floor", ratio).str();
    rows[row["name"]] = {ratio, words};
  }
  Overlay overlay{"error against the reference", {}};
  for (const Json &node : graph["nodes"]) {
    const std::pair<double, std::string> *worst = nullptr;
    auto look = [&](const Json &name) {
      auto row = rows.find(name.get<std::string>());
      if (row != rows.end() && (!worst || row->second.first > worst->first))
        worst = &row->second;
    };
    look(node["name"]);
    for (const Json &name : node["inside"])
      look(name);
    if (worst)
      overlay.marks[node["id"].get_ref<const std::string &>()] = {std::max(0.0, worst->first),
                                                                  worst->second};
  }
  return overlay;
}

} // namespace vetro::viz
