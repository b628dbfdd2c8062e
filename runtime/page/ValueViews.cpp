// Values: the layer map, a tensor, the heads of an attention, a weight's block.
#include "runtime/abi/Dequantize.h"
#include "runtime/page/Views.h"

#include "llvm/ADT/StringExtras.h"
#include <cmath>

namespace vetro::page {

using screens::Statistics;

llvm::Expected<HookValue> valueAt(Viewer &viewer, size_t token, const std::string &name) {
  Recording &r = viewer.recording();
  if (!r.has(token, name))
    return llvm::createStringError(
        token >= r.nRun() ? "token %zu did not run: %s has no value there"
        : r.model()       ? "the run has no value at token %zu that is called %s"
                          : "at token %zu the trace keeps no %s: open it with --model MODEL",
        token, screens::shown(name).c_str());
  auto values = r.values(token, {name});
  if (!values)
    return values.takeError();
  if (values->front().tensor.data.empty())
    return llvm::createStringError(screens::shown(name) + " has no row at token " +
                                   std::to_string(token));
  return std::move(values->front());
}

// ---- the layer map ----

static double absMax(llvm::ArrayRef<float> numbers) {
  double most = 0;
  for (float x : numbers)
    if (std::isfinite(x))
      most = std::max(most, std::abs(double(x)));
  return most;
}

/// All values that can be seen at a token, in the order of the plan, each with its step.
static std::vector<std::pair<std::string, size_t>> visible(Viewer &viewer, size_t token,
                                                           bool inside) {
  const Json &steps = viewer.document()["steps"];
  std::vector<std::pair<std::string, size_t>> found;
  std::map<std::string, size_t> known;
  for (size_t op = 0; op < steps.size(); ++op)
    for (const char *field : {"inside", "values"})
      for (const Json &item : steps[op][field]) {
        const std::string &name = item.get_ref<const std::string &>();
        bool wanted = inside || field == llvm::StringRef("values");
        if (wanted && !name.empty() && viewer.recording().has(token, name) &&
            known.try_emplace(name, op).second)
          found.push_back({name, op});
      }
  return found;
}

/// One cell: what is counted over the value, and the time of its step.
static Json mapCell(const Json &d, const HookValue &value, size_t op, int64_t batch) {
  Json cell = {{"name", value.tensor.name}, {"op", op}, {"label", value.label}};
  if (!value.tensor.data.empty()) {
    Statistics s = Statistics::of(value.tensor.data, 1);
    cell["rms"] = s.rms, cell["absmax"] = absMax(value.tensor.data), cell["nans"] = s.nans;
  }
  if (batch >= 0) {
    std::string place = screens::pointer("batches", size_t(batch), "step_us/") + std::to_string(op);
    if (Json::json_pointer at(place); d.contains(at))
      cell["us"] = d[at], cell["usAt"] = place;
  }
  return cell;
}

Answer mapView(Viewer &viewer, const Request &request) {
  const Json &d = viewer.document();
  auto token = request.number("token", d["tokens"].size());
  auto inside = token ? request.number("inside", 2) : llvm::Expected<size_t>(0);
  if (llvm::Error error = llvm::joinErrors(token.takeError(), inside.takeError()))
    return std::move(error);
  auto found = visible(viewer, *token, *inside);
  std::vector<std::string> names, columns;
  for (const auto &[name, op] : found)
    names.push_back(name);
  auto values = viewer.recording().values(*token, names);
  if (!values)
    return values.takeError();
  std::map<int64_t, std::map<std::string, Json>> layers;
  Json outside = Json::array();
  for (auto [i, value] : llvm::enumerate(*values)) {
    Json cell = mapCell(d, value, found[i].second, d["tokens"][*token]["batch"]);
    int64_t layer = layerOf(names[i]);
    if (layer < 0) {
      outside.push_back(std::move(cell));
      continue;
    }
    std::string column = llvm::StringRef(names[i]).drop_front(4).split('.').second.str();
    if (!llvm::is_contained(columns, column))
      columns.push_back(column);
    layers[layer][column] = std::move(cell);
  }
  Json rows = Json::array();
  for (auto &[layer, cells] : layers) {
    Json row = Json::array();
    for (const std::string &column : columns)
      row.push_back(cells.count(column) ? std::move(cells[column]) : Json());
    rows.push_back({{"layer", layer}, {"cells", std::move(row)}});
  }
  return Json{{"columns", columns}, {"rows", rows}, {"outside", outside}};
}

// ---- a tensor ----

namespace {
/// How a value is laid out for a heat map: rows by columns, and how many of each make one cell.
struct Grid {
  size_t rows, cols, rowStep, colStep;
  size_t nRows() const { return (rows + rowStep - 1) / rowStep; }
  size_t nCols() const { return (cols + colStep - 1) / colStep; }
};
} // namespace

/// A cell is large enough that there are at most 32 by 96 of them, of one axis 2048.
static Grid gridOf(llvm::ArrayRef<int64_t> shape, size_t n) {
  size_t cols = shape.empty() ? n : size_t(shape.back());
  if (shape.size() < 2 || cols == 0 || cols == n)
    return {1, n, 1, std::max<size_t>(1, (n + 2047) / 2048)};
  size_t rows = n / cols;
  return {rows, cols, (rows + 31) / 32, (cols + 95) / 96};
}

/// The numbers of one cell as one: the one that is farthest from 0, their mean, or the first.
static float pooled(llvm::ArrayRef<float> numbers, const Grid &g, size_t row, size_t col,
                    llvm::StringRef pool) {
  size_t r1 = std::min(g.rows, (row + 1) * g.rowStep), c1 = std::min(g.cols, (col + 1) * g.colStep);
  double sum = 0, n = 0;
  float far = numbers[row * g.rowStep * g.cols + col * g.colStep];
  if (pool == "first")
    return far;
  for (size_t r = row * g.rowStep; r < r1; ++r)
    for (size_t c = col * g.colStep; c < c1; ++c) {
      float x = numbers[r * g.cols + c];
      sum += x, ++n;
      if (std::abs(x) > std::abs(far) || std::isnan(x))
        far = x;
    }
  return pool == "mean" ? float(sum / n) : far;
}

/// ggml's dimensions of a row-major shape: elements and, at bytesEach a number, strides in bytes,
/// both fastest first.
static Json ggmlShape(llvm::ArrayRef<int64_t> shape, int64_t bytesEach) {
  Json ne = Json::array(), nb = Json::array();
  int64_t stride = bytesEach;
  for (int64_t d : llvm::reverse(shape)) {
    ne.push_back(d), nb.push_back(stride);
    stride *= d;
  }
  return {{"torch", std::vector<int64_t>(shape.begin(), shape.end())}, {"ne", ne}, {"nb", nb}};
}

Answer tensorView(Viewer &viewer, const Request &request) {
  auto token = request.number("token", viewer.document()["tokens"].size());
  if (!token)
    return token.takeError();
  std::string pool = request.text("pool");
  if (pool != "max" && pool != "mean" && pool != "first")
    return llvm::createStringError("tensor: pool: found '" + screens::shown(pool) +
                                   "', expected max, mean or first");
  auto value = valueAt(viewer, *token, request.text("name"));
  if (!value)
    return value.takeError();
  llvm::ArrayRef<float> numbers = value->tensor.data;
  Grid g = gridOf(value->tensor.shape, numbers.size());
  std::vector<float> cells;
  for (size_t r = 0; r < g.nRows(); ++r)
    for (size_t c = 0; c < g.nCols(); ++c)
      cells.push_back(pooled(numbers, g, r, c, pool));
  Statistics s = Statistics::of(numbers, 32);
  screens::Table table{"", screens::valueHeader(), {screens::valueRow(*value)}};
  return Json{{"name", value->tensor.name},
              {"label", value->label},
              {"shape", ggmlShape(value->tensor.shape, 4)},
              {"table", toJson(table)},
              {"count", numbers.size()},
              {"min", s.min},
              {"max", s.max},
              {"bins", s.bins},
              {"grid",
               {{"rows", g.rows},
                {"cols", g.cols},
                {"rowStep", g.rowStep},
                {"colStep", g.colStep},
                {"nRows", g.nRows()},
                {"nCols", g.nCols()}}},
              {"pool", pool},
              {"f32", packed(cells)}};
}

/// The value that a request names, at its token.
static llvm::Expected<HookValue> valueAsked(Viewer &viewer, const Request &request) {
  auto token = request.number("token", viewer.document()["tokens"].size());
  return token ? valueAt(viewer, *token, request.text("name")) : token.takeError();
}

Answer sliceView(Viewer &viewer, const Request &request) {
  auto value = valueAsked(viewer, request);
  if (!value)
    return value.takeError();
  llvm::ArrayRef<float> numbers = value->tensor.data;
  auto at = request.number("at", numbers.size());
  if (!at)
    return at.takeError();
  return Json{{"name", value->tensor.name},
              {"at", *at},
              {"f32", packed(numbers.slice(*at, std::min<size_t>(64, numbers.size() - *at)))}};
}

// ---- heads ----

/// How many query heads share one of keys and values in a layer; 0: it is not known.
static size_t headsPerGroup(const Json &d, int64_t layer, size_t nHeads) {
  for (const Json &state : d["kv"]["states"])
    if (layerOf(state["name"].get_ref<const std::string &>()) == layer)
      if (size_t heads = state["heads"]; heads > 0)
        return nHeads / heads;
  return 0;
}

Answer headsView(Viewer &viewer, const Request &request) {
  auto value = valueAsked(viewer, request);
  if (!value)
    return value.takeError();
  const auto &shape = value->tensor.shape;
  if (shape.size() != 2)
    return llvm::createStringError(screens::shown(value->tensor.name) +
                                   " has no heads by positions");
  return Json{
      {"name", value->tensor.name},
      {"label", value->label},
      {"heads", shape[0]},
      {"positions", shape[1]},
      {"perGroup", headsPerGroup(viewer.document(), layerOf(value->tensor.name), size_t(shape[0]))},
      {"f32", packed(value->tensor.data)}};
}

Answer triangleView(Viewer &viewer, const Request &request) {
  constexpr size_t most = 96; // tokens: each is visited
  auto head = request.number("head", 65536);
  if (!head)
    return head.takeError();
  size_t n = viewer.recording().nRun(), first = n > most ? n - most : 0;
  Json rows = Json::array();
  for (size_t token = first; token < n; ++token) {
    auto value = valueAt(viewer, token, request.text("name"));
    if (!value)
      return value.takeError();
    const auto &shape = value->tensor.shape;
    if (shape.size() != 2 || *head >= size_t(shape[0]))
      return llvm::createStringError(screens::shown(value->tensor.name) + " has no head " +
                                     std::to_string(*head));
    size_t width = size_t(shape[1]);
    rows.push_back(
        {{"token", token},
         {"at", *head * width},
         {"f32", packed(llvm::ArrayRef(value->tensor.data).slice(*head * width, width))}});
  }
  return Json{{"name", request.text("name")}, {"head", *head}, {"rows", rows}};
}

// ---- weights ----

Answer weightView(Viewer &viewer, const Request &request) {
  if (!viewer.recording().model())
    return llvm::createStringError("the bytes of a weight are in the model's file: open the trace "
                                   "with --model MODEL");
  const gguf::File &file = viewer.recording().model()->file();
  const gguf::TensorInfo *tensor = file.findTensor(request.text("name"));
  if (!tensor)
    return llvm::createStringError("the model has no weight " +
                                   screens::shown(request.text("name")));
  if (!tensor->supported || !canDequantize(tensor->format))
    return llvm::createStringError(screens::shown(tensor->name) + ": " + tensor->typeName() +
                                   " has no reader of its blocks");
  const FormatInfo &info = formatInfo(tensor->format);
  size_t nBlocks = tensor->ne[0] / info.blockLen;
  auto row = request.number("row", tensor->numRows());
  auto block = row ? request.number("block", nBlocks) : llvm::Expected<size_t>(0);
  if (llvm::Error error = llvm::joinErrors(row.takeError(), block.takeError()))
    return std::move(error);
  llvm::StringRef bytes(reinterpret_cast<const char *>(file.data(*tensor).data()) +
                            *row * rowBytes(tensor->format, tensor->ne[0]) +
                            *block * info.blockBytes,
                        info.blockBytes);
  return Json{{"name", tensor->name},
              {"type", tensor->typeName()},
              {"ne", std::vector<uint64_t>(tensor->ne.begin(), tensor->ne.begin() + tensor->nDims)},
              {"torch", tensor->shape()},
              {"rows", tensor->numRows()},
              {"blocks", nBlocks},
              {"row", *row},
              {"block", *block},
              {"bytes", llvm::toHex(bytes, true)},
              {"table", toJson(screens::blockTable(file, *tensor, *row, *block))}};
}

} // namespace vetro::page
