// Cutting a fault out.
#include "runtime/compare/Repro.h"
#include "compiler/ir/Names.h"
#include "compiler/ir/Shapes.h"
#include "runtime/engine/CompiledProgram.h"
#include "runtime/engine/ProgramWriter.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace mlir;

namespace vetro {

static constexpr const char *programFile = "region.mlir", *valuesFile = "tensors.safetensors";

static NamedTensor named(StringRef name, ref::Tensor tensor) {
  NamedTensor t{name.str(), {tensor.shape.begin(), tensor.shape.end()}, std::move(tensor.data)};
  if (t.data.empty())
    t.data.assign(tensor.ids.begin(), tensor.ids.end());
  return t;
}

/// Adds the bytes of the weights that a program reads, and the ids where it reads tokens.
static void addFromModel(Repro &repro, const ProgramWriter &writer, const gguf::File &file,
                         ArrayRef<int32_t> ids) {
  for (const std::string &name : writer.weights()) {
    const gguf::TensorInfo &info = *file.findTensor(name);
    ArrayRef<uint8_t> bytes = file.data(info);
    Repro::Weight weight{name, "F32", {}, {bytes.begin(), bytes.end()}};
    if (info.format == Format::F32)
      llvm::append_range(weight.shape, info.shape());
    else
      weight.dtype = "U8",
      weight.shape = {int64_t(info.numRows()), int64_t(bytes.size() / info.numRows())};
    repro.weights.push_back(std::move(weight));
  }
  if (writer.reads("tokens"))
    repro.values.push_back(named("tokens", ref::Tensor::ofIds(ids)));
}

// ---- a wrong graph ----

llvm::Expected<Repro> reproOfGraph(const Graph &graph, const Proof &wrong,
                                   const TensorFile &reference, const llvm::StringMap<Proof> &known,
                                   ArrayRef<int32_t> ids, const gguf::File &file) {
  Repro repro;
  repro.name = wrong.name;
  OwningOpRef<func::FuncOp> expanded = graph.forward().clone();
  ref::expandFusedOps(*expanded);
  Operation *last = nullptr;
  for (Operation &op : expanded->front())
    if (ir::nameOf(&op) == wrong.name && !isa<ir::GetWeightOp, ir::GetStateOp>(op))
      last = &op;
  Segment segment(last, known);
  ProgramWriter writer(*graph.module);
  auto read = [&](Value v, StringRef name) -> llvm::Error {
    int64_t n = int64_t(ids.size());
    auto value = readForGraph(reference, name, shapeOfBatch(v, n, n, n),
                              ir::shapeOf(v).getElementType().isInteger(32));
    if (!value)
      return value.takeError();
    repro.values.push_back(named(name, std::move(*value)));
    return llvm::Error::success();
  };
  for (Value v : segment.above) {
    StringRef name = ir::nameOf(v.getDefiningOp());
    if (llvm::Error error = read(v, name))
      return std::move(error);
    writer.addArgument(v, name);
  }
  Operation *made = nullptr;
  for (Operation &op : expanded->front())
    if (segment.whole.contains(&op) && !isa<ir::GetStateOp>(op))
      made = writer.clone(&op);
  addFromModel(repro, writer, file, ids);
  if (llvm::Error error = read(last->getResult(0), wrong.name))
    return std::move(error);
  repro.program = writer.finish(made->getResult(0), "frontend");
  // The error that would just be allowed: errors grow with their ratio.
  double allowed = -10 * std::log10(wrong.nmse) + 20 * std::log10(wrong.worst);
  repro.leastSnrDb = std::isfinite(allowed) ? std::floor(allowed) : 90;
  llvm::raw_string_ostream(repro.command)
      << "vetro eval " << programFile << " " << valuesFile << " --reference --min-snr "
      << llvm::format("%.0f", *repro.leastSnrDb);
  return repro;
}

// ---- a wrong kernel ----

/// What a sequence's cache holds of a state: [n, heads, headDim].
static ref::Tensor rowsOf(const KvCache &cache, const Plan &plan, StringRef state) {
  auto found = llvm::find_if(plan.states, [&](const PlanState &s) { return s.name == state; });
  ref::Tensor rows({int64_t(cache.length(0)), found->heads, found->headDim});
  for (uint32_t i = 0; i < cache.length(0); ++i)
    cache.read(found - plan.states.begin(), 0, i, rows.row(i * found->heads));
  return rows;
}

namespace {
/// A step with what it reads, op by op.
class StepCut {
public:
  StepCut(const Model &model, const Graph &graph, const HookRecorder &recorder,
          const Session &session, Repro &repro)
      : model(model), recorder(recorder), session(session), repro(repro), writer(*graph.module) {}

  void add(Operation *op) {
    for (auto [i, v] : llvm::enumerate(op->getOperands())) {
      if (auto get = v.getDefiningOp<ir::GetStateOp>()) {
        if (!stores(op) && filled.insert(get.getState()).second)
          fill(get);
        continue;
      }
      const ref::Tensor *value = recorder.operand(op, i);
      bool known = value && !(value->data.empty() && value->ids.empty());
      if (known && !isa<BlockArgument>(v) && added.insert(v).second)
        addArgument(v, *value);
    }
    last = writer.clone(op);
  }

  /// The value of this name that the last op computed or stored.
  Value result(Operation *step, StringRef name) {
    if (step->getNumResults() == 0)
      return load(step, name);
    for (OpResult r : step->getResults())
      if (resultName(step, r.getResultNumber()) == name)
        return last->getResult(r.getResultNumber());
    return last->getResult(0);
  }

  ProgramWriter &program() { return writer; }

private:
  static bool stores(Operation *op) { return op->getNumResults() == 0; }

  void addArgument(Value v, const ref::Tensor &value) {
    Operation *def = v.getDefiningOp();
    std::string name = resultName(def, cast<OpResult>(v).getResultNumber()).str();
    if (name.empty())
      name = "input";
    while (llvm::any_of(repro.values, [&](const NamedTensor &t) { return t.name == name; }))
      name += "'";
    repro.values.push_back(named(name, value));
    writer.addArgument(v, name);
  }

  /// Of all that a state holds: [n, heads, headDim].
  static RankedTensorType rowsType(Value handle) {
    auto state = cast<ir::StateType>(handle.getType());
    return RankedTensorType::get({ShapedType::kDynamic, state.getHeads(), state.getHeadDim()},
                                 Float32Type::get(handle.getContext()));
  }

  /// Stores first what the run's cache held.
  void fill(ir::GetStateOp get) {
    std::string name = get.getState().str();
    ref::Tensor rows = rowsOf(session.kvCache(), model.plan(), name);
    OpBuilder &b = writer.builder();
    Value stored = writer.argument(name, rowsType(get.getResult()));
    ir::KvStoreOp::create(b, b.getUnknownLoc(), writer.lookup(get.getResult()), stored,
                          writer.list("slots"));
    repro.values.push_back(named(name, std::move(rows)));
  }

  Value load(Operation *step, StringRef name) {
    Value handle;
    for (Value v : step->getOperands())
      if (auto get = v.getDefiningOp<ir::GetStateOp>())
        handle = get.getResult();
    OpBuilder &b = writer.builder();
    return ir::KvLoadOp::create(b, ir::nameLoc(b.getContext(), name), rowsType(handle),
                                writer.lookup(handle), writer.list("cells"));
  }

  const Model &model;
  const HookRecorder &recorder;
  const Session &session;
  Repro &repro;
  ProgramWriter writer;
  Operation *last = nullptr;
  llvm::StringSet<> filled;
  llvm::DenseSet<Value> added;
};
} // namespace

llvm::Expected<Repro> reproOfStep(const Model &model, StringRef name, Session &session,
                                  ArrayRef<int32_t> ids) {
  auto graph = model.plannedGraph();
  if (!graph)
    return graph.takeError();
  std::vector<Operation *> steps = stepOps(**graph);
  uint32_t step = uint32_t(llvm::find(steps, stepWith(**graph, name)) - steps.begin());
  auto recorder = HookRecorder::ofSteps(model, step, step + 1);
  if (!recorder)
    return recorder.takeError();
  session.observe(recorder->get());
  std::vector<BatchToken> batch;
  for (int32_t id : ids)
    batch.push_back({id, 0, true});
  if (llvm::Error error = session.decode(batch, [](size_t, ArrayRef<float>) {}))
    return std::move(error);
  session.observe(nullptr);
  Repro repro;
  repro.name = name.str();
  StepCut cut(model, **graph, **recorder, session, repro);
  for (Operation *op : (*recorder)->region(step))
    cut.add(op);
  Value result = cut.result(steps[step], name);
  addFromModel(repro, cut.program(), model.file(), ids);
  repro.program = cut.program().finish(result, "planned");
  llvm::raw_string_ostream(repro.command)
      << "vetro eval " << programFile << " " << valuesFile << " --level " << model.options().level;
  return repro;
}

// ---- the folder ----

static llvm::Error writeFile(StringRef folder, StringRef name,
                             llvm::function_ref<void(llvm::raw_ostream &)> write) {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  std::error_code code;
  llvm::raw_fd_ostream out(path, code);
  if (!code)
    write(out), out.close(), code = out.error();
  out.clear_error();
  return code ? llvm::createStringError(path + ": " + code.message()) : llvm::Error::success();
}

llvm::Error writeRepro(const Repro &repro, StringRef folder) {
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return llvm::createStringError(folder + ": " + code.message());
  std::vector<RawTensor> tensors;
  for (const NamedTensor &t : repro.values)
    tensors.push_back({t.name,
                       "F32",
                       t.shape,
                       {reinterpret_cast<const char *>(t.data.data()), t.data.size() * 4}});
  for (const Repro::Weight &w : repro.weights)
    tensors.push_back({w.name,
                       w.dtype,
                       w.shape,
                       {reinterpret_cast<const char *>(w.bytes.data()), w.bytes.size()}});
  if (llvm::Error error =
          writeFile(folder, programFile, [&](llvm::raw_ostream &out) { out << repro.program; }))
    return error;
  if (llvm::Error error = writeFile(folder, valuesFile, [&](llvm::raw_ostream &out) {
        writeRawSafetensors(out, tensors, {{"producer", "vetro"}});
      }))
    return error;
  return writeFile(folder, "README.md", [&](llvm::raw_ostream &out) {
    out << "The ops that compute `" << repro.name << "`, alone: `" << programFile
        << "`, and what they read: `" << valuesFile << "`.\nRun them again:\n\n    "
        << repro.command << "\n";
  });
}

} // namespace vetro
