// What the compiler made of a layer: its ops before and after a pass, and the lines that did it.
#include "runtime/page/Assets.h"
#include "runtime/page/Views.h"

#include "llvm/ADT/StringExtras.h"
#include <list>

namespace vetro::page {

using llvm::StringRef;

// ---- the ops of a layer ----

namespace {
/// One op of a layer as a line of text, and the names of what it defines.
struct Line {
  std::string text;
  std::vector<std::string> names;
};
/// What stands side by side: the same values before and after.
struct Pair {
  std::string before, after;
};
} // namespace

/// "%blk.0.q, %blk.0.k = vetro..." defines blk.0.q and blk.0.k; one without a result has those
/// inside it: names = ["", "blk.0.k_rope"].
static std::vector<std::string> definedNames(StringRef line) {
  std::vector<std::string> names;
  auto [left, right] = line.split(" = ");
  if (!left.starts_with("%") || right.empty()) {
    llvm::SmallVector<StringRef> inside;
    line.split("names = [").second.split(']').first.split(inside, ", ");
    for (StringRef name : inside)
      if (name = name.trim('"'); !name.empty())
        names.push_back(name.str());
    return names;
  }
  llvm::SmallVector<StringRef> parts;
  left.split(parts, ", ");
  for (StringRef part : parts)
    names.push_back(part.drop_front().split(':').first.str());
  return names;
}

/// The layer that a line is about: that of the first name of a layer in it; -1: none.
static int64_t layerOfLine(StringRef line) {
  size_t at = line.find("blk.");
  if (at == StringRef::npos)
    return -1;
  return layerOf(line.drop_front(at));
}

/// The ops of a layer in the text of a module, without those that only name a weight or a state.
static llvm::Expected<std::vector<Line>> linesOf(Viewer &viewer, const std::string &file,
                                                 int64_t layer) {
  auto ir = viewer.recording().trace().read(file);
  if (!ir)
    return ir.takeError();
  std::vector<Line> lines;
  llvm::SmallVector<StringRef> all;
  StringRef(*ir).split(all, '\n');
  for (StringRef text : all) {
    text = text.trim();
    bool declares = text.starts_with("vetro.weight") || text.starts_with("vetro.state") ||
                    text.contains("= vetro.get_weight") || text.contains("= vetro.get_state");
    if (!declares && layerOfLine(text) == layer)
      lines.push_back({text.str(), definedNames(text)});
  }
  return lines;
}

/// Pairs lines by what they define. A line whose values are new stands below the one before it, so
/// that what a pass left alone keeps its place.
static std::vector<Pair> paired(const std::vector<Line> &before, const std::vector<Line> &after) {
  std::list<Pair> rows;
  std::map<std::string, std::list<Pair>::iterator> rowOf;
  for (const Line &line : before) {
    auto row = rows.insert(rows.end(), {line.text, ""});
    for (const std::string &name : line.names)
      rowOf[name] = row;
    if (line.names.empty())
      rowOf[line.text] = row;
  }
  auto next = rows.begin();
  for (const Line &line : after) {
    std::vector<std::string> names = line.names;
    if (names.empty())
      names = {line.text};
    auto row = rows.end();
    for (const std::string &name : names)
      if (auto found = rowOf.find(name);
          row == rows.end() && found != rowOf.end() && found->second->after.empty())
        row = found->second;
    if (row == rows.end())
      row = rows.insert(next, Pair());
    row->after = line.text;
    next = std::next(row);
  }
  return {rows.begin(), rows.end()};
}

/// The layer and the pass that a request speaks of.
static llvm::Expected<std::pair<int64_t, size_t>> siteOf(Viewer &viewer, const Request &request) {
  auto layer = request.number("layer", 100000);
  auto pass = layer ? request.number("pass", viewer.document()["passes"].size())
                    : llvm::Expected<size_t>(0);
  if (llvm::Error error = llvm::joinErrors(layer.takeError(), pass.takeError()))
    return std::move(error);
  return std::pair<int64_t, size_t>(*layer, *pass);
}

Answer irView(Viewer &viewer, const Request &request) {
  auto site = siteOf(viewer, request);
  if (!site)
    return site.takeError();
  auto [layer, pass] = *site;
  const Json &d = viewer.document();
  auto before = linesOf(viewer, screens::irBefore(d, pass), layer);
  auto after = before ? linesOf(viewer, screens::irAfter(d, pass), layer) : std::move(before);
  if (!after)
    return after.takeError();
  Json rows = Json::array();
  for (const Pair &pair : paired(*before, *after))
    rows.push_back({{"before", pair.before}, {"after", pair.after}});
  return Json{{"layer", layer}, {"pass", pass}, {"rows", rows}};
}

// ---- rewrites ----

/// The lines of a pass's source around "passes/FuseQkv.cpp:34"; empty: this program does not hold
/// it.
static Json sourceAround(StringRef place) {
  auto [file, number] = place.split(':');
  size_t line = 0;
  StringRef text = asset(file);
  Json lines = Json::array();
  if (text.empty() || number.getAsInteger(10, line))
    return lines;
  llvm::SmallVector<StringRef> all;
  text.split(all, '\n');
  for (size_t i = line > 9 ? line - 9 : 0; i < std::min(all.size(), line + 12); ++i)
    lines.push_back({{"number", i + 1}, {"text", all[i]}, {"here", i + 1 == line}});
  return lines;
}

Answer rewritesView(Viewer &viewer, const Request &request) {
  auto site = siteOf(viewer, request);
  if (!site)
    return site.takeError();
  auto [layer, pass] = *site;
  const Json &d = viewer.document();
  Json list = Json::array();
  const Json &rewrites = d["passes"][pass]["rewrites"];
  for (size_t i = 0; i < rewrites.size(); ++i) {
    const Json &rewrite = rewrites[i];
    if (layerOf(rewrite["site"].get_ref<const std::string &>()) != layer)
      continue;
    std::string at = screens::pointer("passes", pass, "rewrites/") + std::to_string(i);
    list.push_back({{"site", rewrite["site"]},
                    {"fired", rewrite["fired"]},
                    {"what", toJson(screens::fact(d, at + "/what"))},
                    {"source", toJson(screens::fact(d, at + "/source"))},
                    {"in", rewrite["in"]},
                    {"lines", sourceAround(rewrite["source"].get_ref<const std::string &>())}});
  }
  return Json{{"layer", layer}, {"pass", pass}, {"rewrites", list}};
}

} // namespace vetro::page
