// From file to machine code.
#include "runtime/engine/TraceModel.h"
#include "compiler/ir/Names.h"
#include "compiler/lowering/Lower.h"
#include "runtime/abi/KvPage.h"
#include "runtime/engine/Compile.h"
#include "runtime/engine/Hooks.h"
#include "runtime/engine/RunOptions.h"
#include "runtime/jit/Compile.h"
#include "viz/GraphJson.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

namespace vetro {

using Json = nlohmann::ordered_json;

std::string modelHash(const gguf::File &file) {
  // Tensors in the file's order, and before them all that the header says.
  std::string header;
  for (const gguf::KeyValue &kv : file.keys())
    if (!kv.overridden)
      header += (kv.key + "=" + kv.value.toText(SIZE_MAX) + "\n").str();
  std::vector<uint64_t> sums;
  auto add = [&](ArrayRef<uint8_t> bytes) {
    llvm::XXH128_hash_t hash = llvm::xxh3_128bits(bytes);
    sums.push_back(hash.low64), sums.push_back(hash.high64);
  };
  add(llvm::arrayRefFromStringRef(header));
  for (const gguf::TensorInfo &t : file.tensors()) {
    add(llvm::arrayRefFromStringRef(t.name));
    add(file.data(t));
  }
  llvm::XXH128_hash_t all = llvm::xxh3_128bits(
      {reinterpret_cast<const uint8_t *>(sums.data()), sums.size() * sizeof(uint64_t)});
  return llvm::formatv("xxh3:{0:x-16}{1:x-16}", all.high64, all.low64).str();
}

static Json modelJson(const gguf::File &file, const std::string &path) {
  Json metadata = Json::array(), tensors = Json::array();
  for (const gguf::KeyValue &kv : file.keys())
    metadata.push_back({{"key", kv.key.str()},
                        {"type", kv.value.typeName()},
                        {"value", kv.value.toText(8)},
                        {"overridden", kv.overridden}});
  for (const gguf::TensorInfo &t : file.tensors()) {
    auto shape = t.shape();
    tensors.push_back({{"name", t.name},
                       {"type", t.typeName().str()},
                       {"shape", std::vector<int64_t>(shape.begin(), shape.end())},
                       {"bytes", t.sizeBytes}});
  }
  auto text = [&](const char *key) {
    const gguf::Value *value = file.find(key);
    return value && value->asString() ? value->asString()->str() : "";
  };
  return {{"path", path},
          {"name", text("general.name")},
          {"architecture", text("general.architecture")},
          {"hash", modelHash(file)},
          {"bytes", file.fileBytes()},
          {"metadata", metadata},
          {"tensors", tensors}};
}

// ---- passes ----

static unsigned countOps(func::FuncOp func) {
  return unsigned(llvm::count_if(func.front(), [](Operation &op) {
    return !isa<ir::GetWeightOp, ir::GetStateOp, func::ReturnOp>(op);
  }));
}

/// The module as text; a value is called by its name.
static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, OpPrintingFlags().printNameLocAsPrefix());
  return text + "\n";
}

namespace {
/// A planned graph as code, made when it is asked for.
class StepCode {
public:
  StepCode(std::shared_ptr<Graph> graph, std::string level)
      : graph(std::move(graph)), level(std::move(level)) {}
  /// In LLVM's dialect.
  llvm::Expected<std::string> text() {
    if (llvm::Error error = make())
      return std::move(error);
    return lowered;
  }
  llvm::Expected<std::string> assembly() {
    if (llvm::Error error = make())
      return std::move(error);
    return machine;
  }

private:
  llvm::Error make() {
    if (!machine.empty())
      return llvm::Error::success();
    llvm::LLVMContext context;
    auto code = lower(*graph->module, context, {.keepText = true});
    if (!code)
      return code.takeError();
    auto assembly = compileAssembly(std::move(code->code), level);
    if (!assembly)
      return assembly.takeError();
    lowered = std::move(code->text), machine = std::move(*assembly);
    return llvm::Error::success();
  }

  std::shared_ptr<Graph> graph;
  std::string level, lowered, machine;
};

/// Runs the passes once more and writes down what each does.
class PassTrace {
public:
  PassTrace(const Model &model, TraceWriter &writer) : model(model), writer(writer) {}

  llvm::Error run(Json &document) {
    auto built = buildModelGraph(model.file(), model.options());
    if (!built)
      return built.takeError();
    auto graph = std::make_shared<Graph>(std::move(*built));
    PassObserver observer;
    observer.before = [&](StringRef pass, ModuleOp) { begin(pass, *graph); };
    observer.after = [&](StringRef, ModuleOp) { end(*graph); };
    observer.remark = [&](StringRef, PassRemark remark) { rewrites.push_back(std::move(remark)); };
    last = textOf(*graph->module);
    addGraph("frontend", *graph);
    keep(writer.add("ir/00-frontend.mlir", last));
    if (llvm::Error error = runPasses(*graph, model.options(), observer))
      return llvm::joinErrors(std::move(error), std::move(failed));
    addGraph("planned", *graph);
    document["passes"] = std::move(passes);
    document["graphs"] = std::move(graphs);
    if (failed)
      return std::move(failed);
    return assemble(std::move(graph), document);
  }

private:
  void keep(llvm::Error error) { failed = llvm::joinErrors(std::move(failed), std::move(error)); }

  void addGraph(const char *stage, const Graph &graph) {
    std::string file = std::string("graph.") + stage + ".json";
    viz::Picture picture(graph.forward());
    keep(writer.add(
        file, viz::toJson(picture).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"));
    graphs[stage] = file;
  }

  void begin(StringRef pass, const Graph &graph) {
    if (pass == "select-kernels")
      addGraph("fused", graph);
    passes.push_back({{"pass", pass.str()}, {"ops_before", countOps(graph.forward())}});
    rewrites.clear();
  }

  void end(const Graph &graph) {
    Json &pass = passes.back();
    pass["ops_after"] = countOps(graph.forward());
    std::string text = textOf(*graph.module);
    if (text != last) {
      pass["ir"] =
          llvm::formatv("ir/{0,0+2}-{1}.mlir", passes.size(), pass["pass"].get<std::string>())
              .str();
      keep(writer.add(pass["ir"].get<std::string>(), text));
    }
    last = std::move(text);
    Json list = Json::array();
    for (const PassRemark &r : rewrites)
      list.push_back({{"site", r.site},
                      {"what", r.text},
                      {"fired", r.fired},
                      {"source", r.source},
                      {"in", r.replaced}});
    pass["rewrites"] = std::move(list);
  }

  llvm::Error assemble(std::shared_ptr<Graph> graph, Json &document) {
    std::string level = model.options().level, file = "asm/" + level + ".s";
    document["assembly"] = file;
    auto code = std::make_shared<StepCode>(std::move(graph), std::move(level));
    if (llvm::Error error = writer.addLater("ir/steps.mlir", [code] { return code->text(); }))
      return error;
    return writer.addLater(file, [code] { return code->assembly(); });
  }

  const Model &model;
  TraceWriter &writer;
  Json passes = Json::array(), graphs = Json::object();
  std::vector<PassRemark> rewrites;
  std::string last;
  llvm::Error failed = llvm::Error::success();
};
} // namespace

// ---- the plan ----

static Json textsOf(Operation *op, const char *attribute) {
  Json texts = Json::array();
  auto list = op->getAttrOfType<ArrayAttr>(attribute);
  for (Attribute item : list ? list.getValue() : ArrayRef<Attribute>())
    if (auto text = dyn_cast<StringAttr>(item); text && !text.empty())
      texts.push_back(text.getValue().str());
  return texts;
}

static Json stepsJson(const Model &model, const Graph &graph) {
  Json steps = Json::array();
  for (auto [step, op] : llvm::zip_equal(model.plan().steps, stepOps(graph))) {
    Json values = Json::array(), weights = Json::array();
    uint64_t bytes = 0;
    for (OpResult result : op->getResults())
      values.push_back(resultName(op, result.getResultNumber()).str());
    for (Value v : op->getOperands())
      if (auto get = v.getDefiningOp<ir::GetWeightOp>()) {
        weights.push_back(get.getWeight().str());
        bytes += model.file().findTensor(get.getWeight())->sizeBytes;
      }
    steps.push_back({{"name", step.name},
                     {"op", step.op},
                     {"function", step.function},
                     {"values", values},
                     {"inside", textsOf(op, "names")},
                     {"weights", weights},
                     {"kernels", textsOf(op, "vetro.kernels")},
                     {"barrier", step.barrier},
                     {"weight_bytes", bytes}});
  }
  return steps;
}

static Json kvJson(const Plan &plan, uint32_t context) {
  Json states = Json::array();
  uint64_t bytes = 0;
  for (const PlanState &s : plan.states) {
    states.push_back({{"name", s.name},
                      {"kind", s.kind},
                      {"element", s.element},
                      {"heads", s.heads},
                      {"head_dim", s.headDim}});
    bytes += uint64_t(s.heads) * s.headDim * (s.element == "f16" ? 2 : 4) * context;
  }
  return {{"context", context},
          {"page_positions", pagePositions},
          {"bytes", bytes},
          {"states", states}};
}

llvm::Error traceModel(const Model &model, uint32_t context, uint64_t arenaBytes,
                       TraceWriter &writer, Json &document) {
  auto graph = model.plannedGraph();
  if (!graph)
    return graph.takeError();
  document["model"] = modelJson(model.file(), model.options().path);
  document["machine"] = {{"cpu", llvm::sys::getHostCPUName().str()},
                         {"level", model.options().level},
                         {"threads", model.pool().size()}};
  document["options"] = Json::parse(describeRun(model.options()));
  if (llvm::Error error = PassTrace(model, writer).run(document))
    return error;
  document["steps"] = stepsJson(model, **graph);
  document["memory"] = {{"buffers", model.plan().buffers.size()},
                        {"arena_bytes", arenaBytes},
                        {"weight_bytes", model.weights().totalBytes()}};
  document["kv"] = kvJson(model.plan(), context);
  return llvm::Error::success();
}

} // namespace vetro
