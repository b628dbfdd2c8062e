// DOT: what is drawn (overview and layer kinds, one layer, the whole, a neighbourhood).
#include "viz/Dot.h"
#include "viz/DotWriter.h"

#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;

namespace vetro::viz {

std::vector<std::vector<int>> layerKinds(const Picture &picture) {
  std::vector<std::vector<int>> kinds;
  std::map<std::string, size_t> known;
  for (int layer : picture.layers()) {
    auto [it, fresh] = known.try_emplace(picture.body(layer), kinds.size());
    if (fresh)
      kinds.emplace_back();
    kinds[it->second].push_back(layer);
  }
  return kinds;
}

/// "blk.0 … blk.4, blk.6": runs of neighbours joined.
static std::string rangesText(ArrayRef<int> layers) {
  std::string text;
  for (size_t i = 0; i < layers.size();) {
    size_t end = i + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1)
      ++end;
    text += (text.empty() ? "blk." : ", blk.") + std::to_string(layers[i]);
    if (end - i > 1)
      text += " … blk." + std::to_string(layers[end - 1]);
    i = end;
  }
  return text;
}

/// "A", "B", ..., "Z", "A1", ...
static std::string letterOf(size_t kind) {
  std::string letter(1, char('A' + kind % 26));
  return kind < 26 ? letter : letter + std::to_string(kind / 26);
}

// ---- overview and kinds ----

namespace {
/// Consecutive layers of one kind: one node of the overview.
struct Run {
  size_t kind;
  SmallVector<int> layers;
  std::string id() const { return "layers:" + std::to_string(layers.front()); }
};
} // namespace

static std::vector<Run> runsOf(const Picture &p, const std::vector<std::vector<int>> &kinds) {
  std::map<int, size_t> kindAt;
  for (auto [k, layers] : llvm::enumerate(kinds))
    for (int layer : layers)
      kindAt[layer] = k;
  std::vector<Run> runs;
  for (int layer : p.layers()) {
    if (runs.empty() || runs.back().kind != kindAt[layer])
      runs.push_back({kindAt[layer], {}});
    runs.back().layers.push_back(layer);
  }
  return runs;
}

static void drawOverview(DotWriter &w, const Picture &p, const std::vector<Run> &runs) {
  std::map<int, std::string> runAt;
  w.beginCluster("cluster_model", "the model", "#888888");
  for (unsigned i : p.nodesOf(-1))
    w.node(i);
  for (const Run &run : runs) {
    w.run(run.id(), rangesText(run.layers), run.layers.size(), letterOf(run.kind), run.kind,
          p.nodesOf(run.layers.front()).size());
    for (int layer : run.layers)
      runAt[layer] = run.id();
  }
  w.endCluster();
  std::set<std::pair<std::string, std::string>> drawn;
  for (const Edge &e : p.edges()) {
    int from = p.nodes()[e.from].layer, to = p.nodes()[e.to].layer;
    std::string a = from < 0 ? w.idOf(e.from) : runAt[from], b = to < 0 ? w.idOf(e.to) : runAt[to];
    if (a == b || !drawn.insert({a, b}).second)
      continue;
    if (from < 0 && to < 0)
      w.edge(e);
    else
      w.link(a, b, e);
  }
}

/// A layer alone: what comes from outside and what leaves as pills.
static void drawLayer(DotWriter &w, const Picture &p, int layer, const std::string &title,
                      size_t kind, bool many) {
  std::string key = "L" + std::to_string(layer);
  w.layer(layer, title, DotWriter::kindColor(kind));
  std::set<std::string> pills;
  for (const Edge &e : p.edges()) {
    bool from = p.nodes()[e.from].layer == layer, to = p.nodes()[e.to].layer == layer;
    if (!from && !to)
      continue;
    if (from && to) {
      w.edge(e);
      continue;
    }
    std::string id = key + (from ? ":out:" : ":in:") + p.valueOf(e).name;
    if (pills.insert(id).second) {
      w.pill(id, from ? "to what follows" : p.valueOf(e).name,
             !from && many ? "in later layers: the layer before" : "");
      if (from)
        w.leave(e, id);
    }
    if (to)
      w.enter(id, e);
  }
}

/// Where a layer does something else than another: "q, attn_ctx".
static std::string differences(const Picture &p, int layer, int other) {
  SmallVector<StringRef> lines, otherLines;
  std::string a = p.body(layer), b = p.body(other);
  StringRef(a).split(lines, '\n', -1, false);
  StringRef(b).split(otherLines, '\n', -1, false);
  if (lines.size() != otherLines.size())
    return "its ops";
  SmallVector<StringRef> names;
  for (auto [i, node] : llvm::enumerate(p.nodesOf(layer)))
    if (StringRef id = p.nodes()[node].id; lines[i] != otherLines[i])
      names.push_back(ir::layerOf(id) < 0 ? id : id.drop_front(4).split('.').second);
  return llvm::join(names, ", ");
}

static void drawKinds(DotWriter &w, const Picture &p) {
  auto kinds = layerKinds(p);
  drawOverview(w, p, runsOf(p, kinds));
  for (auto [k, layers] : llvm::enumerate(kinds)) {
    std::string title = "layer kind " + letterOf(k) + ":  " + rangesText(layers);
    if (layers.size() > 1)
      title += "  (×" + std::to_string(layers.size()) + ", drawn: blk." +
               std::to_string(layers.front()) + ")";
    if (k > 0)
      title += "  differs from A in " + differences(p, layers.front(), kinds[0].front());
    drawLayer(w, p, layers.front(), title, k, layers.size() > 1);
  }
}

// ---- whole, neighbourhood ----

static void drawAll(DotWriter &w, const Picture &p) {
  for (unsigned i : p.nodesOf(-1))
    w.node(i);
  for (int layer : p.layers())
    w.layer(layer, "blk." + std::to_string(layer), "#888888");
  for (const Edge &e : p.edges())
    w.edge(e);
}

/// The nodes at most `hops` edges from `center`, in program order.
static std::set<unsigned> neighbourhood(const Picture &p, unsigned center, unsigned hops) {
  std::set<unsigned> near{center};
  for (unsigned hop = 0; hop < hops; ++hop) {
    std::set<unsigned> grown = near;
    for (const Edge &e : p.edges()) {
      if (near.count(e.from))
        grown.insert(e.to);
      if (near.count(e.to))
        grown.insert(e.from);
    }
    if (grown.size() == near.size())
      break;
    near = std::move(grown);
  }
  return near;
}

static void drawAround(DotWriter &w, const Picture &p, unsigned center, unsigned hops) {
  std::set<unsigned> near = neighbourhood(p, center, hops), stubs;
  for (unsigned i : near)
    w.node(i, i == center);
  for (const Edge &e : p.edges()) {
    bool from = near.count(e.from), to = near.count(e.to);
    if (!from && !to)
      continue;
    if (from && to) {
      w.edge(e);
      continue;
    }
    unsigned outside = from ? e.to : e.from;
    std::string id = "cut:" + w.idOf(outside);
    if (stubs.insert(outside).second)
      w.pill(id, w.idOf(outside), "");
    from ? w.leave(e, id, true) : w.enter(id, e, true);
  }
}

static llvm::Error noSuchName(const Picture &p, StringRef name) {
  std::string best;
  unsigned least = ~0u;
  for (const std::string &known : p.names())
    if (unsigned d = StringRef(known).edit_distance(name, true, 8); d < least)
      least = d, best = known;
  std::string hint = best.empty() ? "" : "; nearest: '" + best + "'";
  return llvm::createStringError("the graph has no value named " + quoted(name) + hint +
                                 "; names are those of vetro graph --layer all");
}

llvm::Expected<std::string> toDot(FunctionOpInterface func, const DotOptions &options) {
  return toDot(Picture(func), func.getName(), options);
}

/// What the options name: a node in the middle, a layer, or (both -1) neither. Error: it is not
/// there.
struct Chosen {
  int center = -1, layer = -1;
};
static llvm::Expected<Chosen> chosenBy(const Picture &picture, const DotOptions &options) {
  Chosen chosen;
  if (!options.around.empty() && (chosen.center = picture.find(options.around)) < 0)
    return noSuchName(picture, options.around);
  bool one = !options.layer.empty() && options.layer != "all";
  if (one && (StringRef(options.layer).getAsInteger(10, chosen.layer) ||
              !llvm::is_contained(picture.layers(), chosen.layer)))
    return llvm::createStringError(
        "the graph has no layer " + quoted(options.layer) + "; expected " +
        (picture.layers().empty()
             ? ""
             : "0 to " + std::to_string(picture.layers().size() - 1) + " or ") +
        "all");
  return chosen;
}

llvm::Expected<std::vector<unsigned>> nodesOf(const Picture &picture, const DotOptions &options) {
  auto chosen = chosenBy(picture, options);
  if (!chosen)
    return chosen.takeError();
  std::vector<unsigned> nodes;
  if (chosen->center >= 0) {
    auto near = neighbourhood(picture, unsigned(chosen->center), options.hops);
    nodes.assign(near.begin(), near.end());
  } else {
    for (unsigned i = 0; i < picture.nodes().size(); ++i)
      if (chosen->layer < 0 || picture.nodes()[i].layer == chosen->layer)
        nodes.push_back(i);
  }
  return nodes;
}

llvm::Expected<std::string> toDot(const Picture &picture, StringRef name,
                                  const DotOptions &options) {
  auto chosen = chosenBy(picture, options);
  if (!chosen)
    return chosen.takeError();
  std::string text;
  DotWriter w(picture, text, options.overlay);
  w.begin(name, options.title);
  if (chosen->center >= 0)
    drawAround(w, picture, unsigned(chosen->center), options.hops);
  else if (chosen->layer >= 0)
    drawLayer(w, picture, chosen->layer, "blk." + options.layer, 0, false);
  else if (options.layer == "all" || picture.layers().empty())
    drawAll(w, picture);
  else
    drawKinds(w, picture);
  w.end();
  return text;
}

} // namespace vetro::viz
