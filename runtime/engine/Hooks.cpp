// Values under their names.
#include "runtime/engine/Hooks.h"
#include "compiler/ir/Extents.h"
#include "compiler/ir/Shapes.h"
#include "runtime/engine/RunSources.h"
#include "runtime/memory/Signals.h"

#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;

namespace vetro {

std::vector<Operation *> stepOps(const Graph &graph) {
  std::vector<Operation *> ops;
  for (Operation &op : graph.forward().front())
    if (ir::isStep(&op))
      ops.push_back(&op);
  return ops;
}

/// Whether rows of micro-batches, one after the other, make up v: its first axis counts tokens or
/// output rows, and no other axis grows.
static bool isByRow(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  if (!type || type.hasStaticShape() || !type.isDynamicDim(0))
    return false;
  auto axes = ir::dynamicAxes(v);
  return axes.size() == 1 && axes[0] != ir::Axis::Cells;
}

using OpList = llvm::SetVector<Operation *>;

/// `op` and, before it, the ops whose results it needs and that are not recorded.
static void addRegion(Operation *op, OpList &region) {
  if (region.contains(op))
    return;
  for (Value v : op->getOperands())
    if (Operation *def = v.getDefiningOp(); def && !isByRow(v))
      if (!isa<ir::GetWeightOp, ir::GetStateOp>(def))
        addRegion(def, region);
  region.insert(op);
}

/// The steps nearest below `op` whose results are recorded: they prove what `op` computed.
static void addWitnesses(Operation *op, OpList &witnesses) {
  for (Value result : op->getResults()) {
    if (isByRow(result))
      continue;
    for (Operation *user : result.getUsers())
      if (ir::isStep(user) && llvm::all_of(user->getResults(), isByRow))
        witnesses.insert(user);
      else
        addWitnesses(user, witnesses);
  }
}

StringRef resultName(Operation *op, unsigned result) {
  auto fused = dyn_cast<ir::FusedOp>(op);
  if (fused && op->getNumResults() > 1)
    return cast<StringAttr>(fused.getInnerNames()[result]).getValue();
  return ir::nameOf(op);
}

Operation *stepWith(const Graph &graph, StringRef name) {
  for (Operation *op : stepOps(graph)) {
    for (OpResult result : op->getResults())
      if (resultName(op, result.getResultNumber()) == name)
        return op;
    if (auto fused = dyn_cast<ir::FusedOp>(op))
      for (Attribute inner : fused.getInnerNames())
        if (cast<StringAttr>(inner).getValue() == name)
          return op;
  }
  return nullptr;
}

RankedTensorType namedType(Value result, StringRef name) {
  for (Operation *user : result.getUsers())
    if (isa<ir::ReshapeOp>(user) && ir::nameOf(user) == name)
      return ir::shapeOf(user->getResult(0));
  return ir::shapeOf(result);
}

/// The names of the values that `op` computes: its own where it writes f32, and those inside.
static void addHooks(Operation *op, uint32_t step, std::vector<Hook> &hooks) {
  bool byOutput = isByOutput(op);
  auto add = [&](StringRef name, bool ran) {
    if (!name.empty())
      hooks.push_back({name.str(), step, ran, byOutput});
  };
  auto fused = dyn_cast<ir::FusedOp>(op);
  if (fused && op->getNumResults() > 1)
    for (Attribute name : fused.getInnerNames())
      add(cast<StringAttr>(name).getValue(), true);
  else if (fused)
    for (Attribute name : fused.getInnerNames())
      if (op->getNumResults() == 0 || cast<StringAttr>(name).getValue() != ir::nameOf(op))
        add(cast<StringAttr>(name).getValue(), false);
  if (op->getNumResults() == 1)
    add(ir::nameOf(op), ir::storageFormat(op->getResult(0)) == "f32" && isByRow(op->getResult(0)));
}

llvm::Expected<std::vector<Hook>> HookRecorder::list(const Model &model) {
  auto graph = model.plannedGraph();
  if (!graph)
    return graph.takeError();
  std::vector<Hook> hooks;
  for (auto [step, op] : llvm::enumerate(stepOps(**graph)))
    addHooks(op, step, hooks);
  return hooks;
}

llvm::Expected<std::unique_ptr<HookRecorder>>
HookRecorder::ofSteps(const Model &model, uint32_t begin, uint32_t end, ArrayRef<Hook> wanted) {
  std::unique_ptr<HookRecorder> r(new HookRecorder(model));
  auto graph = model.plannedGraph();
  if (!graph)
    return graph.takeError();
  r->steps = stepOps(**graph);
  r->wanted.assign(wanted.begin(), wanted.end());
  r->needed.resize(r->steps.size());
  r->whole.resize(r->steps.size());
  r->recorded.resize(r->steps.size());
  OpList needed;
  for (auto [i, op] : llvm::enumerate(r->steps)) {
    r->stepOf[op] = i;
    if (i >= begin && i < end)
      addRegion(op, needed);
  }
  r->wantedOf.resize(r->steps.size());
  for (auto [i, hook] : llvm::enumerate(wanted)) {
    r->needed.set(hook.step);
    r->wantedOf[hook.step].push_back(i);
    if (hook.ran)
      continue;
    OpList witnesses;
    addWitnesses(r->steps[hook.step], witnesses);
    addRegion(r->steps[hook.step], needed);
    for (Operation *op : witnesses)
      addRegion(op, needed);
  }
  for (Operation *op : needed)
    if (ir::isStep(op))
      r->whole.set(r->stepOf[op]);
  r->needed |= r->whole;
  for (unsigned step : r->needed.set_bits())
    r->prepare(step);
  return r;
}

void HookRecorder::prepare(uint32_t step) {
  Operation *op = steps[step];
  Recorded &rec = recorded[step];
  for (Value v : op->getOperands())
    rec.layouts.emplace_back(v);
  for (Value v : op->getResults())
    rec.layouts.emplace_back(v);
  rec.selects = isa<ir::HeadNormOp>(op) || (isa<ir::GatherRowsOp>(op) && rec.layouts[0].byRow);
}

// ---- recording ----

/// Appends `rows` rows of k values, kept as `records` int8 records each, as the numbers they stand
/// for, and what a code is worth.
static void appendRecords(ref::Tensor &to, std::vector<float> &codeSize, const uint8_t *from,
                          uint64_t rows, uint64_t k, uint32_t records) {
  for (uint64_t r = 0; r < rows; ++r) {
    to.data.resize(to.data.size() + k);
    codeSize.resize(to.data.size());
    for (uint32_t n = 0; n < records; ++n, from += a8Stride(k)) {
      auto *q = reinterpret_cast<const int8_t *>(from);
      auto *d = reinterpret_cast<const float *>(from + a8ScalesOffset(k));
      for (uint64_t i = 0; i < k; ++i) {
        to.data[to.data.size() - k + i] += q[i] * d[i / 32];
        codeSize[to.data.size() - k + i] = d[i / 32];
      }
    }
  }
}

/// Of the last micro-batch's rows of x keeps those that `rows` selects, and lets it count them from
/// the first micro-batch.
static void keepSelected(ref::Tensor &x, ref::Tensor &rows, const VtBatch &batch) {
  uint64_t width = x.dim(-1), before = rows.ids.size() - batch.nOutputs;
  uint64_t first = x.data.size() - batch.nTokens * width;
  std::vector<float> selected;
  for (uint32_t o = 0; o < batch.nOutputs; ++o) {
    auto from = x.data.begin() + first + rows.ids[before + o] * width;
    selected.insert(selected.end(), from, from + width);
    rows.ids[before + o] = int32_t(before + o);
  }
  x.data.resize(first);
  x.data.insert(x.data.end(), selected.begin(), selected.end());
  x.shape[0] = int64_t(x.data.size() / width);
}

HookRecorder::Layout::Layout(Value v) : byRow(isByRow(v)) {
  if (!byRow)
    return; // a weight, a state, or over cells, which are listed when all are known
  auto type = cast<RankedTensorType>(v.getType());
  ir::Extent count = ir::elementCount(v);
  byOutput = count.outputs;
  isIds = type.getElementType().isInteger(32);
  perRow = count.scale;
  width = type.getShape().back();
  records = isIds ? 0 : ir::recordsOf(v);
  shape = ref::Shape(type.getShape());
}

void HookRecorder::after(uint32_t step, PlanRunner &runner) {
  Recorded &rec = recorded[step];
  const VtBatch &batch = runner.batch();
  size_t nOperands = steps[step]->getNumOperands();
  rec.operands.resize(rec.layouts.size());
  rec.codeSize.resize(rec.layouts.size());
  for (size_t i = 0; i < rec.layouts.size(); ++i) {
    const Layout &layout = rec.layouts[i];
    if (!layout.byRow || (!whole[step] && i < nOperands))
      continue;
    ref::Tensor &to = rec.operands[i];
    uint64_t rows = layout.byOutput ? batch.nOutputs : batch.nTokens, n = layout.perRow * rows;
    to.shape = layout.shape;
    if (layout.isIds) {
      auto *ids = static_cast<const int32_t *>(runner.address(step, i));
      // Output rows count from the micro-batch's first token.
      to.ids.insert(to.ids.end(), ids, ids + n);
      to.shape[0] = int64_t(to.ids.size() / layout.perRow);
      if (to.shape.size() > 1) // a table: as in the interpreter, a dump shows its numbers
        to.data.assign(to.ids.begin(), to.ids.end());
      continue;
    }
    if (layout.records) {
      appendRecords(to, rec.codeSize[i], static_cast<const uint8_t *>(runner.address(step, i)),
                    n / layout.width, layout.width, layout.records);
    } else {
      auto *data = static_cast<const float *>(runner.address(step, i));
      to.data.insert(to.data.end(), data, data + n);
    }
    to.shape[0] = int64_t(to.data.size() / layout.perRow);
  }
  if (rec.selects && whole[step])
    keepSelected(rec.operands[0], rec.operands[1], batch);
}

// ---- recomputing ----

llvm::Expected<std::vector<ref::Bounded>>
HookRecorder::recompute(uint32_t step, const Session &session, OnValue onValue) {
  CellLists lists(session.kvCache());
  PackedSource weights(model.weights());
  CacheState state(session.kvCache(), model.plan());
  ref::InterpreterOptions options;
  ThreadPool &pool = model.pool();
  options.parallelFor = [&](int64_t n, llvm::function_ref<void(int64_t)> fn) {
    pool.run([&](unsigned t) {
      for (int64_t i = n * t / pool.size(); i < n * (t + 1) / pool.size(); ++i)
        fn(i);
    });
  };
  options.bounds = !onValue;
  llvm::DenseMap<Value, ref::Bounded> values;
  for (Operation *op : region(step)) {
    std::vector<ref::Bounded> operands(op->getNumOperands());
    for (auto [i, v] : llvm::enumerate(op->getOperands())) {
      if (auto it = values.find(v); it != values.end())
        operands[i] = it->second;
      else if (const ref::Tensor *list = lists.of(v))
        operands[i].value = *list;
      else if (const ref::Tensor *known = operand(op, i))
        operands[i].value = *known;
    }
    if (op == steps[step])
      options.onValue = std::move(onValue);
    auto results = ref::interpretOp(op, operands, weights, state, options);
    for (unsigned i = 0; results && onRecomputed && i < results->size(); ++i)
      onRecomputed(op, i, (*results)[i].value);
    if (!results || op == steps[step])
      return results;
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *results))
      values[result] = std::move(value);
  }
  llvm_unreachable("the region ends with the step");
}

std::vector<Operation *> HookRecorder::region(uint32_t step) const {
  OpList region;
  addRegion(steps[step], region);
  return {region.begin(), region.end()};
}

const ref::Tensor *HookRecorder::operand(Operation *op, unsigned i) const {
  auto it = stepOf.find(op);
  if (it == stepOf.end() || i >= recorded[it->second].operands.size())
    return nullptr;
  return &recorded[it->second].operands[i];
}

bool isByOutput(Operation *op) {
  return op->getNumResults() > 0 &&
         llvm::is_contained(ir::dynamicAxes(op->getResult(0)), ir::Axis::Outputs);
}

bool isHeadsFirst(StringRef name) {
  return name.ends_with("attn_scores") || name.ends_with("attn_probs");
}

NamedTensor dumpLayout(StringRef name, ref::Tensor t) {
  NamedTensor out{name.str(), {t.shape.begin(), t.shape.end()}, {}};
  if (!isHeadsFirst(name)) {
    out.data = std::move(t.data);
    return out;
  }
  int64_t heads = t.dim(0), tokens = t.dim(1), cells = t.dim(2);
  out.shape = {tokens, heads, cells};
  out.data.resize(t.data.size());
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < tokens; ++i)
      std::copy_n(&t.data[(h * tokens + i) * cells], cells, &out.data[(i * heads + h) * cells]);
  return out;
}

void HookRecorder::restart() {
  for (Recorded &rec : recorded) {
    for (ref::Tensor &t : rec.operands)
      t.shape.clear(), t.data.clear(), t.ids.clear();
    for (std::vector<float> &size : rec.codeSize)
      size.clear();
  }
}

/// The result that has this name of a step.
static unsigned resultOf(Operation *op, StringRef name) {
  for (unsigned r = 0; r < op->getNumResults(); ++r)
    if (resultName(op, r) == name)
      return r;
  return 0;
}

HookValue HookRecorder::takeRan(const Hook &hook) {
  Operation *op = steps[hook.step];
  unsigned r = resultOf(op, hook.name);
  ref::Tensor &kept = recorded[hook.step].operands[op->getNumOperands() + r];
  ref::Tensor t = whole[hook.step] ? kept : std::move(kept);
  int64_t rows =
      std::exchange(t.shape, ref::Shape(namedType(op->getResult(r), hook.name).getShape()))[0];
  t.shape[0] = rows;
  return {dumpLayout(hook.name, std::move(t)), "ran"};
}

llvm::Expected<llvm::StringMap<HookValue>> HookRecorder::insideOf(uint32_t step,
                                                                  const Session &session) {
  Operation *op = steps[step];
  llvm::StringMap<HookValue> inner;
  auto results = recompute(step, session, [&](Operation *o, unsigned, const ref::Tensor &t) {
    bool read = isa<ir::KvLoadOp>(o); // as stored by the run
    inner[ir::nameOf(o)] = {dumpLayout(ir::nameOf(o), t), read ? "ran" : "recomputed"};
  });
  if (!results)
    return results.takeError();
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (auto own = inner.find(resultName(op, i)); own != inner.end())
      own->second.tensor = dumpLayout(own->first(), (*results)[i].value);
  return inner;
}

llvm::Expected<std::vector<HookValue>> HookRecorder::values(const Session &session) {
  std::vector<HookValue> result;
  for (uint32_t step = 0; step < steps.size(); ++step) {
    if (wantedOf[step].empty())
      continue;
    if (interrupted())
      return llvm::createStringError(std::errc::interrupted,
                                     "interrupted before all was recomputed");
    llvm::StringMap<HookValue> inner;
    if (llvm::any_of(wantedOf[step], [&](size_t i) { return !wanted[i].ran; })) {
      auto recomputed = insideOf(step, session);
      if (!recomputed)
        return recomputed.takeError();
      inner = std::move(*recomputed);
    }
    for (size_t i : wantedOf[step])
      result.push_back(wanted[i].ran ? takeRan(wanted[i]) : inner[wanted[i].name]);
  }
  return result;
}

/// What a step stored, as the cache holds it, against the numbers before rounding.
Proof HookRecorder::proveStored(uint32_t step, const KvCache &cache, ref::Bounded stored) const {
  Operation *op = steps[step];
  unsigned slots = op->getNumOperands() - 1;
  Value handle = op->getOperand(isa<ir::KvStoreOp>(op) ? 0 : slots - 1);
  auto get = handle.getDefiningOp<ir::GetStateOp>();
  CacheState state(cache, model.plan());
  const std::vector<int32_t> &ids = recorded[step].operands[slots].ids;
  ref::Tensor ran(stored.value.shape);
  for (auto [t, slot] : llvm::enumerate(ids))
    state.load(get.getState(), slot, ran.row(t * ran.dim(1)), ran.dim(1) * ran.dim(2));
  if (!cast<ir::StateType>(handle.getType()).getElement().isF16())
    return compare(ran, stored, {});
  roundToF16(stored);
  Proof proof = compare(ran, stored, {});
  for (auto [a, b] : llvm::zip_equal(ran.data, stored.value.data))
    proof.codesOff += a != b;
  return proof;
}

/// The name of a step's result; of an unnamed one, that of the first named value it comes from.
static StringRef valueName(Operation *op, unsigned result) {
  if (StringRef name = resultName(op, result); !name.empty())
    return name;
  for (Value v : op->getOperands())
    if (Operation *def = v.getDefiningOp(); def && !isa<ir::GetWeightOp, ir::GetStateOp>(def))
      if (StringRef name = valueName(def, cast<OpResult>(v).getResultNumber()); !name.empty())
        return name;
  return "";
}

llvm::Expected<std::vector<Proof>> HookRecorder::prove(const Session &session) {
  std::vector<Proof> proofs;
  auto add = [&](Operation *op, unsigned result, Proof proof) {
    proof.name = valueName(op, result).str(), proof.op = op->getName().stripDialect().str();
    proofs.push_back(std::move(proof));
  };
  for (uint32_t step = 0; step < steps.size(); ++step) {
    Operation *op = steps[step];
    if (!whole[step] || !llvm::all_of(op->getResults(), isByRow))
      continue; // proved by the recorded value that it led to
    auto results = recompute(step, session, {});
    if (!results)
      return results.takeError();
    if (op->getNumResults() == 0) {
      add(op, 0, proveStored(step, session.kvCache(), std::move(results->front())));
      continue;
    }
    for (auto [r, ours] : llvm::enumerate(*results)) {
      unsigned i = op->getNumOperands() + r;
      add(op, r, compare(recorded[step].operands[i], ours, recorded[step].codeSize[i]));
    }
  }
  return proofs;
}

} // namespace vetro
