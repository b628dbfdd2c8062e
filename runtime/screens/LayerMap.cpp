// The map of step 13: layers by values.
#include "runtime/screens/Draw.h"

#include <map>

namespace vetro::screens {

llvm::ArrayRef<std::pair<Metric, const char *>> metrics() {
  static constexpr std::pair<Metric, const char *> table[] = {
      {Metric::Rms, "rms of each value that ran"},
      {Metric::AbsMax, "largest |number| of each value that ran"},
      {Metric::Time, "time of each value's step"},
      {Metric::Difference, "difference of each value from the reference"},
  };
  return table;
}

namespace {
/// A value of a layer: "blk.3.q_rope" is "q_rope" of layer 3, made by a step of the plan.
struct Spot {
  std::string name, column;
  size_t layer, op;
};

/// The values that ran of all layers, and their columns in the order of the plan.
struct Spots {
  std::vector<Spot> all;
  std::vector<std::string> columns;
  size_t nLayers = 0;

  Spots(const Recording &r, size_t token) {
    const Json &steps = r.document()["steps"];
    for (size_t op = 0; op < steps.size(); ++op)
      for (const Json &text : steps[op]["values"])
        add(r, token, op, text.get_ref<const std::string &>());
  }
  void add(const Recording &r, size_t token, size_t op, const std::string &name) {
    llvm::StringRef rest = name;
    size_t layer;
    if (!rest.consume_front("blk.") || rest.consumeInteger(10, layer) || !rest.consume_front(".") ||
        rest.empty() || layer > r.document()["steps"].size() || !r.isRan(token, name))
      return;
    if (!llvm::is_contained(columns, rest))
      columns.push_back(rest.str());
    nLayers = std::max(nLayers, layer + 1);
    all.push_back({name, rest.str(), layer, op});
  }
};
} // namespace

/// The darker the larger among those of its column; of times, among all.
static void shadeByLargest(llvm::MutableArrayRef<Cell> cells, const Spots &spots, bool ofAll) {
  std::map<std::string, double> most;
  for (auto [cell, spot] : llvm::zip_equal(cells, spots.all))
    if (!cell.data.empty() && cell.data[0].value.is_number()) {
      double &largest = most[ofAll ? "" : spot.column];
      largest = std::max(largest, cell.data[0].value.get<double>());
    }
  for (auto [cell, spot] : llvm::zip_equal(cells, spots.all)) {
    double largest = most[ofAll ? "" : spot.column];
    if (!cell.data.empty())
      cell.shade = largest > 0 && cell.data[0].value.is_number()
                       ? cell.data[0].value.get<double>() / largest
                       : 0;
  }
}

static llvm::Expected<std::vector<Cell>> numbersOf(Recording &r, size_t token, const Spots &spots,
                                                   bool rms) {
  std::vector<std::string> names;
  for (const Spot &spot : spots.all)
    names.push_back(spot.name);
  auto values = r.values(token, names);
  if (!values)
    return values.takeError();
  std::vector<Cell> cells;
  for (const HookValue &value : *values) {
    Statistics s = Statistics::of(value.tensor.data);
    cells.push_back(rms ? number(value.tensor.name, "rms", s.rms)
                        : number(value.tensor.name, "absmax", std::max(-s.min, s.max)));
  }
  return cells;
}

static std::vector<Cell> timesOf(const Json &d, size_t token, const Spots &spots) {
  int64_t batch = d["tokens"][token]["batch"];
  std::vector<Cell> cells(spots.all.size());
  for (size_t i = 0; batch >= 0 && i < cells.size(); ++i)
    cells[i] =
        fact(d, pointer("batches", size_t(batch), "step_us/") + std::to_string(spots.all[i].op));
  return cells;
}

/// The darker the fewer decibels a value is above its error: 120 and more are none.
static std::vector<Cell> differencesOf(const Recording &r, const Spots &spots) {
  std::vector<Cell> cells(spots.all.size());
  for (auto [cell, spot] : llvm::zip_equal(cells, spots.all))
    if (auto i = r.comparisonRow(spot.name)) {
      const Json &row = r.comparison()["rows"][*i], &snr = row["snr_db"];
      std::string at = pointer("rows", *i, "snr_db");
      cell.data = {{"diff.json", at, snr}};
      if (snr.is_number())
        cell = number("diff.json", at, snr);
      cell.shade = snr.is_number()        ? 1 - std::clamp(snr.get<double>() / 120, 0.0, 1.0)
                   : row["equal"] == true ? 0
                                          : 1;
    }
  return cells;
}

static llvm::Expected<std::vector<Cell>> cellsOf(Recording &r, const Place &place,
                                                 const Spots &spots) {
  llvm::Expected<std::vector<Cell>> cells =
      place.metric == Metric::Difference ? differencesOf(r, spots)
      : place.metric == Metric::Time
          ? timesOf(r.document(), place.token, spots)
          : numbersOf(r, place.token, spots, place.metric == Metric::Rms);
  if (cells && place.metric != Metric::Difference)
    shadeByLargest(*cells, spots, place.metric == Metric::Time);
  return cells;
}

llvm::Expected<Table> layerMap(Recording &r, const Place &place) {
  const Json &d = r.document();
  Spots spots(r, place.token);
  auto cells = cellsOf(r, place, spots);
  if (!cells)
    return cells.takeError();
  Table map{metrics()[size_t(place.metric)].second, {heading("layer")}};
  map.isMap = true;
  for (const std::string &column : spots.columns)
    map.header.push_back(heading(column));
  for (size_t layer = 0; layer < spots.nLayers; ++layer) {
    map.rows.push_back(Row(map.header.size()));
    map.rows[layer][0] = {std::to_string(layer), Tone::Dim, true};
  }
  std::string here = d["steps"].empty() ? "" : opName(d, place.op);
  for (auto [cell, spot] : llvm::zip_equal(*cells, spots.all)) {
    cell.target = spot.name;
    bool chosen = listHas(d["steps"][place.op]["values"], spot.name) || spot.name == here;
    cell.tone = chosen ? Tone::Accent : Tone::Plain;
    size_t column = size_t(llvm::find(spots.columns, spot.column) - spots.columns.begin()) + 1;
    map.rows[spot.layer][column] = std::move(cell);
  }
  return map;
}

} // namespace vetro::screens
