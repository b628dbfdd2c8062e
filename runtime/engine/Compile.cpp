// File to graph to plan and object code.
#include "runtime/engine/Compile.h"
#include "frontends/Import.h"
#include "passes/Passes.h"
#include "runtime/jit/Compile.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/IR/LLVMContext.h"

using namespace mlir;

namespace vetro {

func::FuncOp Graph::forward() const { return (*module).lookupSymbol<func::FuncOp>("forward"); }

static std::string architectureName(const gguf::File &file) {
  const gguf::Value *arch = file.find("general.architecture");
  return arch && arch->asString() ? arch->asString()->str() : "";
}

const Architecture &architectureOf(const gguf::File &file) {
  const Architecture *known = findArchitecture(architectureName(file));
  assert(known && "a graph was built for it");
  return *known;
}

uint32_t contextLength(const gguf::File &file) {
  const gguf::Value *n = file.find(architectureName(file) + ".context_length");
  return n ? uint32_t(n->asUInt().value_or(0)) : 0;
}

uint32_t plannedContext(const gguf::File &file, const ModelOptions &options) {
  if (!file.findTensor("rope_factors_long.weight"))
    return UINT32_MAX;
  uint32_t train = contextLength(file);
  return options.nCtx == 0 || (train && options.nCtx > train) ? train : options.nCtx;
}

llvm::Expected<Graph> buildModelGraph(const gguf::File &file, const ModelOptions &options,
                                      llvm::function_ref<void(ModuleOp)> onImport) {
  Graph graph;
  graph.context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  auto module = importModule(graph.context.get(), file);
  if (!module)
    return module.takeError();
  graph.module = std::move(*module);
  if (onImport)
    onImport(*graph.module);
  auto report =
      buildGraph(*graph.module, {.kvType = options.kvType, .nCtx = plannedContext(file, options)});
  if (!report)
    return llvm::createStringError(file.path() + ": " + llvm::toString(report.takeError()));
  graph.report = std::move(*report);
  graph.nCtxTrain = contextLength(file);
  if (options.changeGraph)
    options.changeGraph("", graph);
  return graph;
}

llvm::Expected<Graph> buildGraphAt(const gguf::File &file, const ModelOptions &options,
                                   Stage stage) {
  auto graph = buildModelGraph(file, options);
  if (!graph)
    return graph;
  if (llvm::Error error = runPasses(*graph, options, {}, stage))
    return std::move(error);
  return graph;
}

namespace {
/// "fuse-qkv" of a pass whose argument is "vetro-fuse-qkv".
StringRef flagOf(Pass *pass) {
  StringRef flag = pass->getArgument();
  flag.consume_front("vetro-");
  return flag;
}

struct Watch : PassInstrumentation {
  explicit Watch(const PassObserver &observer) : observer(observer) {}
  void runBeforePass(Pass *pass, Operation *op) override { call(observer.before, pass, op); }
  void runAfterPass(Pass *pass, Operation *op) override { call(observer.after, pass, op); }

  static void call(const std::function<void(StringRef, ModuleOp)> &f, Pass *pass, Operation *op) {
    if (auto module = dyn_cast<ModuleOp>(op); module && f)
      f(flagOf(pass), module);
  }
  const PassObserver &observer;
};

/// A remark of Sites (passes/Site.h): "FLAG: WHAT" or "FLAG: not here, WHY", at the site's name.
void report(const Diagnostic &d, const PassObserver &observer) {
  std::string text = d.str();
  auto [flag, what] = StringRef(text).split(": ");
  PassRemark remark;
  remark.fired = !what.consume_front("not here, ");
  remark.text = what.str();
  remark.site = ir::nameOf(d.getLocation()).str();
  if (remark.fired)
    remark.replaced = ir::replacedNames(d.getLocation());
  for (const Diagnostic &note : const_cast<Diagnostic &>(d).getNotes())
    if (auto at = dyn_cast<FileLineColLoc>(note.getLocation()))
      remark.source = (at.getFilename().getValue() + ":" + Twine(at.getLine())).str();
  observer.remark(flag, std::move(remark));
}
} // namespace

/// Error: a site of "fuse-qkv@blk.3" that no value of the graph lies at.
static llvm::Error checkSites(Graph &graph, ArrayRef<std::string> disable) {
  for (StringRef item : disable) {
    StringRef site = item.split('@').second;
    bool found = site.empty() || llvm::any_of(graph.forward().front(), [&](Operation &op) {
                   StringRef name = ir::nameOf(&op);
                   return name.consume_front(site) && (name.empty() || name.starts_with("."));
                 });
    if (!found)
      return llvm::createStringError("--disable: the graph has no value at '%s', expected a layer "
                                     "such as blk.3 or a value's name; `vetro graph` draws them",
                                     site.str().c_str());
  }
  return llvm::Error::success();
}

llvm::Error runPasses(Graph &graph, const ModelOptions &options, const PassObserver &observer,
                      Stage stage) {
  if (stage == Stage::Frontend)
    return llvm::Error::success();
  PassManager manager(graph.context.get(), ModuleOp::getOperationName());
  PipelineOptions pipeline;
  pipeline.disable = options.disable;
  pipeline.activations = options.activations;
  pipeline.explain = bool(observer.remark);
  pipeline.part = stage == Stage::Fused ? PipelinePart::Fuse : PipelinePart::All;
  if (llvm::Error error = addPipeline(manager, pipeline))
    return error;
  if (llvm::Error error = checkSites(graph, options.disable))
    return error;
  PassObserver watch = observer;
  if (options.changeGraph)
    watch.after = [&](StringRef flag, ModuleOp module) {
      options.changeGraph(flag, graph);
      if (observer.after)
        observer.after(flag, module);
    };
  manager.addInstrumentation(std::make_unique<Watch>(watch));
  std::string message;
  ScopedDiagnosticHandler collect(graph.context.get(), [&](Diagnostic &d) {
    if (d.getSeverity() == DiagnosticSeverity::Error && message.empty())
      message = d.str();
    if (d.getSeverity() == DiagnosticSeverity::Remark && observer.remark)
      report(d, observer);
    return success();
  });
  if (failed(manager.run(*graph.module)))
    return llvm::createStringError("%s: %s", options.path.c_str(), message.c_str());
  return llvm::Error::success();
}

llvm::Expected<CacheEntry> compileGraph(Graph &graph, const ModelOptions &options) {
  llvm::LLVMContext context;
  auto lowered = lower(*graph.module, context);
  if (!lowered)
    return lowered.takeError();
  auto object = compileObject(std::move(lowered->code), options.level);
  if (!object)
    return object.takeError();
  lowered->plan.warnings = graph.report.warnings;
  return CacheEntry{std::move(*object), std::move(lowered->plan)};
}

std::string cacheDescription(const gguf::File &file, const ModelOptions &options) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const gguf::KeyValue &kv : file.keys())
    if (!kv.key.starts_with("tokenizer."))
      out << kv.key << "=" << kv.value.toText(4096) << "\n";
  for (const gguf::TensorInfo &t : file.tensors()) {
    out << t.name << ":" << t.typeName();
    for (int64_t d : t.shape())
      out << "," << d;
    out << "\n";
  }
  out << "kv " << options.kvType << "\nlevel " << options.level << "\n";
  out << "context " << plannedContext(file, options) << "\n";
  for (const std::string &item : options.disable)
    out << "disable " << item << "\n";
  for (const std::string &item : options.activations)
    out << "activation " << item << "\n";
  return text;
}

} // namespace vetro
