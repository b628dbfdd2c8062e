// Gathers what `vetro inspect` shows.
#include "runtime/cli/Inspect.h"
#include "compiler/lowering/Lower.h"

#include "llvm/IR/LLVMContext.h"
#include <map>

namespace vetro::cli {

using gguf::File;

/// A value: numbers, bools and texts as they are; arrays up to `maxElements` as text.
static Json valueJson(const gguf::Value &v, bool all) {
  if (auto b = v.asBool())
    return *b;
  if (auto n = v.asUInt())
    return *n;
  if (auto n = v.asInt())
    return *n;
  if (auto x = v.asFloat())
    return *x;
  if (auto s = v.asString())
    return all ? s->str() : s->take_front(400).str();
  return v.toText(all ? SIZE_MAX : 8);
}

static Json metadataJson(const File &file, bool all) {
  Json list = Json::array();
  for (const gguf::KeyValue &kv : file.keys()) {
    Json j = {
        {"key", kv.key.str()}, {"type", kv.value.typeName()}, {"value", valueJson(kv.value, all)}};
    if (kv.overridden)
      j["overridden"] = true;
    list.push_back(std::move(j));
  }
  return list;
}

static Json tensorsJson(const File &file) {
  Json list = Json::array();
  for (const gguf::TensorInfo &t : file.tensors()) {
    llvm::SmallVector<int64_t, 4> shape = t.shape();
    list.push_back({{"name", t.name},
                    {"type", t.typeName().str()},
                    {"shape", std::vector<int64_t>(shape.begin(), shape.end())},
                    {"bytes", t.sizeBytes}});
  }
  return list;
}

/// Tensors, elements and bytes of each storage type.
static Json typesJson(const File &file) {
  struct Sum {
    uint64_t tensors = 0, elements = 0, bytes = 0;
  };
  std::map<std::string, Sum> sums;
  for (const gguf::TensorInfo &t : file.tensors()) {
    Sum &s = sums[t.typeName().str()];
    ++s.tensors;
    s.elements += t.numElements();
    s.bytes += t.sizeBytes;
  }
  Json list = Json::array();
  for (const auto &[name, s] : sums)
    list.push_back({{"type", name},
                    {"tensors", s.tensors},
                    {"elements", s.elements},
                    {"bytes", s.bytes},
                    {"bits_per_weight", s.elements ? 8.0 * s.bytes / s.elements : 0}});
  return list;
}

static Json fileJson(const File &file) {
  uint64_t elements = 0, bytes = 0;
  for (const gguf::TensorInfo &t : file.tensors()) {
    elements += t.numElements();
    bytes += t.sizeBytes;
  }
  return {{"path", file.path().str()}, {"gguf_version", file.version()},
          {"bytes", file.fileBytes()}, {"tensors", file.tensors().size()},
          {"parameters", elements},    {"tensor_bytes", bytes}};
}

/// Bytes of the cache: for each layer, heads x width x bytes per number, for K and for V.
static Json kvJson(const Plan &plan, const InspectOptions &o, uint64_t trainContext) {
  uint64_t perPosition = 0;
  std::map<std::string, uint64_t> shapes; // "k 3 x 64 f16" -> layers
  for (const PlanState &s : plan.states) {
    uint64_t element = s.element == "f32" ? 4 : 2;
    perPosition += uint64_t(s.heads) * s.headDim * element;
    ++shapes[s.kind + " " + std::to_string(s.heads) + " x " + std::to_string(s.headDim) + " x " +
             std::to_string(element) + " bytes"];
  }
  std::string formula;
  for (const auto &[shape, layers] : shapes)
    formula += (formula.empty() ? "" : " + ") + std::to_string(layers) + " layers x " + shape;
  uint64_t nCtx = o.nCtx;
  if (trainContext && (nCtx == 0 || nCtx > trainContext))
    nCtx = trainContext;
  return {{"element", o.model.kvType},         {"formula", formula},
          {"bytes_per_position", perPosition}, {"context", nCtx},
          {"bytes", perPosition * nCtx},       {"train_context", trainContext}};
}

static Json planJson(const Plan &plan) {
  std::map<std::string, uint64_t> ops;
  for (const PlanStep &step : plan.steps)
    ++ops[step.op];
  uint64_t fixed = 0, perToken = 0;
  for (const PlanExtent &b : plan.buffers) {
    fixed += b.of(1, 1, 1);
    perToken += b.of(2, 1, 1) - b.of(1, 1, 1);
  }
  return {{"steps", plan.steps.size()},         {"ops", ops},
          {"buffers", plan.buffers.size()},     {"buffer_bytes_one_token", fixed},
          {"buffer_bytes_per_token", perToken}, {"weights", plan.weights.size()},
          {"vocabulary", plan.nVocab}};
}

static Json why(llvm::Error error) { return {{"why", llvm::toString(std::move(error))}}; }

/// Fills "frontend", "kv_cache" and "plan", as far as the model can be built.
static void addGraph(Json &result, const File &file, const InspectOptions &o) {
  for (const char *key : {"frontend", "kv_cache", "plan"}) // in the order of the text form
    result[key] = nullptr;
  auto graph = buildModelGraph(file, o.model);
  if (!graph) {
    result["frontend"] = why(graph.takeError());
    return;
  }
  result["frontend"] = {{"unused_keys", graph->report.unusedKeys},
                        {"unused_tensors", graph->report.unusedTensors},
                        {"warnings", graph->report.warnings}};
  if (llvm::Error error = runPasses(*graph, o.model)) {
    result["plan"] = why(std::move(error));
    return;
  }
  llvm::LLVMContext context;
  auto lowered = lower(*graph->module, context);
  if (!lowered) {
    result["plan"] = why(lowered.takeError());
    return;
  }
  result["kv_cache"] = kvJson(lowered->plan, o, contextLength(file));
  result["plan"] = planJson(lowered->plan);
}

Json inspectFile(const File &file, const InspectOptions &o) {
  Json result;
  result["file"] = fileJson(file);
  result["metadata"] = metadataJson(file, o.all);
  result["tensors"] = tensorsJson(file);
  result["types"] = typesJson(file);
  addGraph(result, file, o);
  result["notes"] = file.notes().vec();
  return result;
}

} // namespace vetro::cli
