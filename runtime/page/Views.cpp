// The table of views; the frame of a run, its screens, its comparison.
#include "runtime/page/Views.h"
#include "runtime/screens/Flow.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Base64.h"

namespace vetro::page {

using screens::fact;
using screens::pointer;

std::string Request::key() const {
  std::string text = view;
  for (const auto &[name, value] : args)
    text += (text == view ? "?" : "&") + name + "=" + value;
  return text;
}

std::string Request::text(llvm::StringRef arg) const {
  auto found = args.find(arg.str());
  return found == args.end() ? "" : found->second;
}

llvm::Expected<size_t> Request::number(llvm::StringRef arg, size_t limit) const {
  std::string words = text(arg);
  size_t number = 0;
  if (!words.empty() && llvm::StringRef(words).getAsInteger(10, number))
    number = limit;
  if (number < limit)
    return number;
  return llvm::createStringError("%s: %s: found '%s', expected a whole number below %zu",
                                 screens::shown(view).c_str(), arg.str().c_str(),
                                 screens::shown(words).c_str(), limit);
}

std::string packed(llvm::ArrayRef<float> numbers) {
  return llvm::encodeBase64(llvm::StringRef(reinterpret_cast<const char *>(numbers.data()),
                                            numbers.size() * sizeof(float)));
}

int64_t layerOf(llvm::StringRef name) {
  int64_t layer;
  return name.consume_front("blk.") && !name.split('.').first.getAsInteger(10, layer) ? layer : -1;
}

Answer Viewer::answer(const Request &request) {
  static constexpr std::pair<llvm::StringLiteral, View *> views[] = {
      {"about", aboutView}, {"screen", screenView},     {"diff", diffView},
      {"map", mapView},     {"tensor", tensorView},     {"slice", sliceView},
      {"heads", headsView}, {"triangle", triangleView}, {"weight", weightView},
      {"lens", lensView},   {"funnel", funnelView},     {"ir", irView},
      {"graph", graphView}, {"rewrites", rewritesView}, {"flow", flowView},
      {"why", whyView},
  };
  for (auto [name, view] : views)
    if (request.view == name)
      return view(*this, request);
  return llvm::createStringError("there is no view " + screens::shown(request.view));
}

/// What the stepper said about its last key.
static llvm::Error said(const screens::Stepper &stepper, bool good) {
  return good ? llvm::Error::success() : llvm::createStringError(stepper.message());
}

llvm::Error Viewer::edit(size_t token, llvm::StringRef text) {
  if (token >= document()["tokens"].size())
    return llvm::createStringError("there is no token %zu", token);
  screens::Place place = stepper.place();
  place.token = token;
  stepper.go(place);
  stepper.press("e", text);
  return said(stepper, !stepper.messageIsError());
}

llvm::Error Viewer::undo() {
  size_t before = stepper.nEdits();
  stepper.press("z");
  return said(stepper, stepper.nEdits() < before);
}

// ---- the frame ----

static Json tokensJson(const Json &d) {
  Json tokens = Json::array();
  for (size_t i = 0; i < d["tokens"].size(); ++i)
    tokens.push_back({{"piece", toJson(fact(d, pointer("tokens", i, "piece")))},
                      {"id", toJson(fact(d, pointer("tokens", i, "id")))},
                      {"batch", d["tokens"][i]["batch"]},
                      {"sampled", d["tokens"][i].contains("sampled")}});
  return tokens;
}

static Json stepsJson(const Json &d) {
  Json steps = Json::array();
  for (size_t i = 0; i < d["steps"].size(); ++i) {
    const Json &step = d["steps"][i];
    std::string name = screens::opName(d, i);
    steps.push_back({{"name", name},
                     {"op", step["op"]},
                     {"layer", layerOf(name)},
                     {"values", step["values"]},
                     {"inside", step["inside"]},
                     {"weights", step["weights"]}});
  }
  return steps;
}

static Json passesJson(const Json &d) {
  Json passes = Json::array();
  for (size_t i = 0; i < d["passes"].size(); ++i) {
    const Json &pass = d["passes"][i];
    passes.push_back({{"name", toJson(fact(d, pointer("passes", i, "pass")))},
                      {"before", toJson(fact(d, pointer("passes", i, "ops_before")))},
                      {"after", toJson(fact(d, pointer("passes", i, "ops_after")))},
                      {"changed", pass.contains("ir") && pass["ir"].is_string()},
                      {"fired", llvm::count_if(pass["rewrites"],
                                               [](const Json &r) { return r["fired"] == true; })}});
  }
  return passes;
}

/// What each batch took: all of it, and its steps together ("/batches/0/step_us+" is their sum).
static Json batchesJson(const Json &d) {
  Json batches = Json::array();
  for (size_t i = 0; i < d["batches"].size(); ++i) {
    double sum = 0;
    for (const Json &us : d["batches"][i]["step_us"])
      sum += us.get<double>();
    screens::Cell steps = screens::number("trace.json", pointer("batches", i, "step_us+"), sum);
    batches.push_back(
        {{"ms", toJson(fact(d, pointer("batches", i, "ms")))}, {"stepsUs", toJson(steps)}});
  }
  return batches;
}

Answer aboutView(Viewer &viewer, const Request &) {
  const Json &d = viewer.document();
  Json cycle = Json::array();
  for (const screens::CycleStep &step : screens::cycle())
    cycle.push_back({{"number", step.number}, {"name", step.name}, {"group", step.group}});
  return Json{{"model", toJson(fact(d, "/model/name"))},
              {"architecture", toJson(fact(d, "/model/architecture"))},
              {"trace", viewer.recording().trace().path()},
              {"hasModel", viewer.recording().model() != nullptr},
              {"nRun", viewer.recording().nRun()},
              {"nPrompt", d["prompt"]["ids"].size()},
              {"nEdits", viewer.walk().nEdits()},
              {"edits", d.contains("edits") ? d["edits"] : Json::array()},
              {"tokens", tokensJson(d)},
              {"batches", batchesJson(d)},
              {"cycle", cycle},
              {"steps", stepsJson(d)},
              {"passes", passesJson(d)},
              {"graphs", d["graphs"]},
              {"hasDiff", !viewer.diff().is_null()},
              {"command", viewer.walk().command()}};
}

/// The place that a request speaks of.
static llvm::Expected<screens::Place> placeOf(Viewer &viewer, const Request &request) {
  const Json &d = viewer.document();
  screens::Place place;
  auto read = [&](llvm::StringRef arg, size_t limit, auto set) -> llvm::Error {
    auto number = request.number(arg, limit);
    if (number)
      set(*number);
    return number.takeError();
  };
  llvm::Error error = read("step", screens::cycle().size() + 1,
                           [&](size_t n) { place.step = unsigned(std::max<size_t>(n, 1)); });
  error = llvm::joinErrors(std::move(error),
                           read("token", d["tokens"].size(), [&](size_t n) { place.token = n; }));
  error = llvm::joinErrors(std::move(error),
                           read("op", d["steps"].size(), [&](size_t n) { place.op = n; }));
  error = llvm::joinErrors(std::move(error),
                           read("inside", 2, [&](size_t n) { place.inside = n == 1; }));
  error = llvm::joinErrors(std::move(error),
                           read("tab", 4, [&](size_t n) { place.tab = screens::Tab(n); }));
  error = llvm::joinErrors(std::move(error),
                           read("pass", d["passes"].size(), [&](size_t n) { place.pass = n; }));
  error =
      llvm::joinErrors(std::move(error), read("row", SIZE_MAX, [&](size_t n) { place.row = n; }));
  if (error)
    return std::move(error);
  return place;
}

Answer screenView(Viewer &viewer, const Request &request) {
  auto place = placeOf(viewer, request);
  if (!place)
    return place.takeError();
  auto screen = screens::draw(viewer.recording(), *place);
  if (!screen)
    return screen.takeError();
  screen->map = {}; // the page has a larger one
  return toJson(*screen);
}

Answer flowView(Viewer &viewer, const Request &request) {
  auto op = request.number("op", viewer.document()["steps"].size());
  if (!op)
    return op.takeError();
  auto from = screens::stepsBeside(viewer.recording(), *op, /*users=*/false);
  if (!from)
    return from.takeError();
  auto users = screens::stepsBeside(viewer.recording(), *op, /*users=*/true);
  if (!users)
    return users.takeError();
  return Json{{"from", *from}, {"users", *users}};
}

Answer diffView(Viewer &viewer, const Request &) {
  if (viewer.diff().is_null())
    return llvm::createStringError("no comparison was given: write one with vetro diff --json and "
                                   "open it with --diff FILE");
  return viewer.diff();
}

} // namespace vetro::page
