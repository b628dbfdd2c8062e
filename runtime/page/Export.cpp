// Asks everything beforehand.
#include "runtime/page/Export.h"
#include "runtime/page/Page.h"

#include <set>

namespace vetro::page {

namespace {
using Args = std::map<std::string, std::string>;

/// The requests of an exported page.
class Questions {
public:
  explicit Questions(Viewer &viewer) : viewer(viewer), d(viewer.document()) {}
  void addRun();
  void addToken(size_t token);
  const std::vector<Request> &all() const { return requests; }

private:
  void add(const std::string &view, Args args = {}) { requests.push_back({view, std::move(args)}); }
  void addScreen(size_t step, size_t token, size_t op, bool inside, size_t tab, size_t row);
  void addScreens(size_t token);
  void addOps(size_t token);
  void addLayers();

  Viewer &viewer;
  const Json &d;
  std::vector<Request> requests;
};
} // namespace

static std::string text(size_t number) { return std::to_string(number); }

void Questions::addScreen(size_t step, size_t token, size_t op, bool inside, size_t tab,
                          size_t row) {
  add("screen", {{"step", text(step)},
                 {"token", text(token)},
                 {"op", text(op)},
                 {"inside", inside ? "1" : "0"},
                 {"tab", text(tab)},
                 {"pass", "0"},
                 {"row", text(row)}});
}

/// Ops of each layer at each pass that changed something, and the layers' drawings.
void Questions::addLayers() {
  std::set<int64_t> layers;
  for (const Json &step : d["steps"])
    for (const Json &name : step["values"])
      layers.insert(layerOf(name.get_ref<const std::string &>()));
  layers.erase(-1);
  for (int64_t layer : layers) {
    for (size_t pass = 0; pass < d["passes"].size(); ++pass) {
      add("ir", {{"layer", text(size_t(layer))}, {"pass", text(pass)}});
      add("rewrites", {{"layer", text(size_t(layer))}, {"pass", text(pass)}});
    }
    for (const auto &[stage, file] : d["graphs"].items())
      add("graph", {{"beside", ""}, {"layer", text(size_t(layer))}, {"stage", stage}});
  }
}

void Questions::addRun() {
  add("about");
  if (!viewer.diff().is_null())
    add("diff");
  addLayers();
  std::set<std::string> weights;
  for (const Json &step : d["steps"])
    for (const Json &name : step["weights"])
      weights.insert(name.get<std::string>());
  if (viewer.recording().model())
    for (const std::string &name : weights)
      add("weight", {{"name", name}, {"row", "0"}, {"block", "0"}});
}

/// The screens of all steps but the one that has one for each op. Rows of lists that choose are
/// asked for up to a number that keeps the file small.
void Questions::addScreens(size_t token) {
  constexpr size_t mostRows = 24;
  for (size_t step = 1; step <= screens::cycle().size(); ++step) {
    if (step == 13)
      continue;
    for (size_t inside = 0; inside < (step == 14 ? 2 : 1); ++inside) {
      size_t rows = 1;
      Request first{"screen", {{"step", text(step)}, {"token", text(token)}}};
      if (auto screen = viewer.answer(first)) {
        for (const Json &table : (*screen)["tables"])
          if (table["chooses"] == true)
            rows = std::max<size_t>(1, std::min(mostRows, table["rows"].size()));
      } else {
        llvm::consumeError(screen.takeError()); // it will be an answer of its own
      }
      for (size_t row = 0; row < rows; ++row)
        addScreen(step, token, 0, inside, 0, row);
    }
  }
}

/// Each op with its values, its code, and each of its values alone.
void Questions::addOps(size_t token) {
  std::set<std::string> names;
  for (size_t op = 0; op < d["steps"].size(); ++op) {
    addScreen(13, token, op, false, 0, 0);
    if (viewer.recording().model())
      addScreen(13, token, op, true, 0, 0);
    addScreen(13, token, op, false, 2, 0);
    add("flow", {{"op", text(op)}});
    for (const char *field : {"values", "inside"})
      for (const Json &name : d["steps"][op][field])
        if (viewer.recording().has(token, name.get_ref<const std::string &>()))
          names.insert(name.get<std::string>());
  }
  for (const std::string &name : names) {
    for (const char *pool : {"max", "mean"})
      add("tensor", {{"name", name}, {"pool", pool}, {"token", text(token)}});
    add("slice", {{"at", "0"}, {"name", name}, {"token", text(token)}});
    if (llvm::StringRef(name).ends_with("attn_probs"))
      add("heads", {{"name", name}, {"token", text(token)}});
  }
}

void Questions::addToken(size_t token) {
  for (const char *inside : {"0", "1"})
    add("map", {{"inside", inside}, {"token", text(token)}});
  add("funnel", {{"token", text(token)}});
  add("lens", {{"token", text(token)}});
  addScreens(token);
  addOps(token);
}

llvm::Expected<std::string> exportPage(Viewer &viewer, llvm::ArrayRef<size_t> tokens,
                                       llvm::function_ref<void(double)> progress) {
  Questions questions(viewer);
  questions.addRun();
  size_t n = viewer.document()["tokens"].size();
  for (size_t token : tokens) {
    if (token >= n)
      return llvm::createStringError("there is no token %zu: the last one is %zu", token, n - 1);
    questions.addToken(token);
  }
  Json answers = Json::object();
  for (size_t i = 0; i < questions.all().size(); ++i) {
    const Request &request = questions.all()[i];
    auto answer = viewer.answer(request);
    answers[request.key()] =
        answer ? std::move(*answer)
               : Json{{"error", screens::shown(llvm::toString(answer.takeError()))}};
    progress(double(i + 1) / double(questions.all().size()));
  }
  answers["tokens"] = std::vector<size_t>(tokens.begin(), tokens.end());
  return exportedPage(answers.dump(-1, ' ', false, Json::error_handler_t::replace));
}

} // namespace vetro::page
