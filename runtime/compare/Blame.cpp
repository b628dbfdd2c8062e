// The search for what is wrong first, and what is behind it.
#include "runtime/compare/Blame.h"
#include "compiler/ir/Extents.h"
#include "compiler/ir/Names.h"
#include "frontends/Import.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace vetro {

llvm::StringMap<Proof> worstByName(const std::vector<Proof> &proofs) {
  llvm::StringMap<Proof> worst;
  for (const Proof &proof : proofs) {
    auto [it, fresh] = worst.try_emplace(proof.name, proof);
    if (!fresh && proof.worst > it->second.worst)
      it->second = proof;
  }
  return worst;
}

std::vector<std::pair<std::string, Operation *>> namesOf(const Graph &graph) {
  std::vector<std::pair<std::string, Operation *>> names;
  llvm::StringMap<size_t> at;
  for (Operation &op : graph.forward().front()) {
    llvm::StringRef name = ir::nameOf(&op);
    if (name.empty() || isa<ir::GetWeightOp, ir::GetStateOp>(op))
      continue;
    auto [it, fresh] = at.try_emplace(name, names.size());
    if (fresh)
      names.push_back({name.str(), &op});
    else
      names[it->second].second = &op;
  }
  return names;
}

// ---- segments ----

Segment::Segment(Operation *op, const llvm::StringMap<Proof> &known)
    : known(known), name(ir::nameOf(op)) {
  add(op);
}

/// The ops that store what `load` reads.
static std::vector<ir::KvStoreOp> storesBefore(ir::KvLoadOp load) {
  auto symbolOf = [](Value state) { return state.getDefiningOp<ir::GetStateOp>().getState(); };
  std::vector<ir::KvStoreOp> stores;
  for (auto store : load->getBlock()->getOps<ir::KvStoreOp>())
    if (symbolOf(store.getState()) == symbolOf(load.getState()))
      stores.push_back(store);
  return stores;
}

void Segment::addOperand(Value v) {
  Operation *def = v.getDefiningOp();
  if (auto get = dyn_cast_or_null<ir::GetWeightOp>(def))
    weights.insert(get.getWeight());
  else if (def && ir::nameOf(def) != name && known.contains(ir::nameOf(def)))
    above.insert(v);
  else if (def)
    add(def);
}

void Segment::add(Operation *op) {
  if (!whole.insert(op))
    return;
  if (auto load = dyn_cast<ir::KvLoadOp>(op))
    for (ir::KvStoreOp store : storesBefore(load)) {
      whole.insert(store);
      addOperand(store->getOperand(1));
    }
  for (Value v : op->getOperands())
    addOperand(v);
  if (!isa<ir::ReshapeOp, ir::TransposeOp, ir::GetStateOp>(op))
    ops.push_back(op);
}

std::vector<std::string> Segment::opNames() const {
  llvm::SetVector<llvm::StringRef> names;
  for (Operation *op : ops)
    names.insert(op->getName().stripDialect());
  return {names.begin(), names.end()};
}

std::string Segment::text() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (Operation *op : ops) {
    out << op->getName() << op->getAttrDictionary();
    for (Type type : op->getResultTypes())
      out << type;
  }
  return text;
}

std::optional<FirstBad> findFirst(const Graph &graph, const llvm::StringMap<Proof> &graphWorst,
                                  const llvm::StringMap<Proof> &kernelWorst,
                                  llvm::StringRef graphKind) {
  for (auto &[name, op] : namesOf(graph))
    for (auto [kind, worst] : {std::pair(graphKind.str(), &graphWorst),
                               std::pair(std::string("kernel"), &kernelWorst)}) {
      auto found = worst->find(name);
      if (found == worst->end() || !(found->second.worst > 1))
        continue;
      Segment segment(op, graphWorst);
      FirstBad first{name, kind, segment.opNames(), segment.weightNames(), found->second.worst};
      if (kind == "kernel")
        first.ops = {found->second.op};
      return first;
    }
  for (const auto &entry : kernelWorst) // a value of the plan alone, such as rope_table
    if (entry.second.worst > 1)
      return FirstBad{entry.first().str(), "kernel", {entry.second.op}, {}, entry.second.worst};
  return std::nullopt;
}

// ---- metadata keys ----

/// Other values of the same type; none for a type that decides no number.
static SmallVector<Attribute> othersOf(Attribute value) {
  Builder b(value.getContext());
  using Others = SmallVector<Attribute>;
  return llvm::TypeSwitch<Attribute, Others>(value)
      .Case([&](BoolAttr flag) { return Others{b.getBoolAttr(!flag.getValue())}; })
      .Case([&](IntegerAttr number) {
        const llvm::APInt &n = number.getValue();
        return Others{IntegerAttr::get(number.getType(), n + 1),
                      IntegerAttr::get(number.getType(), n.lshr(1))};
      })
      .Case([&](FloatAttr number) {
        double x = number.getValueAsDouble();
        return Others{FloatAttr::get(number.getType(), x * 1.5 + 1e-3),
                      FloatAttr::get(number.getType(), x * 0.5)};
      })
      .Case([&](ArrayAttr list) {
        Others items;
        for (Attribute item : list)
          if (Others others = othersOf(item); !others.empty())
            items.push_back(others[0]);
        return items.size() == list.size() ? Others{b.getArrayAttr(items)} : Others();
      })
      .Default([](Attribute) { return Others(); });
}

/// The text of what makes `name` in the frontend's graph, after `change` had the metadata; empty
/// where no graph comes of that.
static std::string segmentWith(const Model &model, const llvm::StringMap<Proof> &known,
                               llvm::StringRef name,
                               llvm::function_ref<DictionaryAttr(DictionaryAttr)> change) {
  auto graph = buildModelGraph(model.file(), model.options(), [&](ModuleOp module) {
    module->setAttr("vetro.metadata",
                    change(module->getAttrOfType<DictionaryAttr>("vetro.metadata")));
  });
  if (!graph)
    return llvm::consumeError(graph.takeError()), "";
  for (auto &[other, op] : namesOf(*graph))
    if (other == name)
      return Segment(op, known).text();
  return "";
}

/// The metadata keys with another value of which other ops make `name`.
static std::vector<std::string>
keysThatDecide(const Model &model, const llvm::StringMap<Proof> &known, llvm::StringRef name) {
  std::vector<std::string> keys, found;
  std::string now = segmentWith(model, known, name, [&](DictionaryAttr metadata) {
    for (NamedAttribute pair : metadata)
      keys.push_back(pair.getName().str());
    return metadata;
  });
  auto decides = [&](const std::string &key, size_t other) {
    bool exists = false;
    std::string text = segmentWith(model, known, name, [&](DictionaryAttr metadata) {
      NamedAttrList list(metadata);
      auto others = othersOf(list.get(key));
      exists = other < others.size();
      if (exists)
        list.set(key, others[other]);
      return list.getDictionary(metadata.getContext());
    });
    return exists && !text.empty() && text != now;
  };
  for (const std::string &key : keys)
    if (decides(key, 0) || decides(key, 1))
      found.push_back(key);
  return found;
}

// ---- the plan ----

llvm::Expected<std::vector<std::string>> passesBehind(const Model &model, StringRef name) {
  auto graph = buildModelGraph(model.file(), model.options());
  if (!graph)
    return graph.takeError();
  std::vector<std::string> fired, passes;
  PassObserver observer;
  observer.before = [&](StringRef, ModuleOp) { fired.clear(); };
  observer.remark = [&](StringRef, PassRemark remark) {
    if (remark.fired)
      fired.push_back(std::move(remark.site));
  };
  observer.after = [&](StringRef flag, ModuleOp) {
    Operation *step = stepWith(*graph, name);
    if (step && isa<ir::FusedOp>(step) && llvm::is_contained(fired, ir::nameOf(step)))
      passes.push_back((flag + "@" + ir::nameOf(step)).str());
  };
  if (llvm::Error error = runPasses(*graph, model.options(), observer, Stage::Fused))
    return std::move(error);
  return passes;
}

llvm::Error explain(FirstBad &first, const Model &model, const llvm::StringMap<Proof> &known) {
  auto planned = model.plannedGraph();
  if (!planned)
    return planned.takeError();
  if (Operation *step = stepWith(**planned, first.name)) {
    first.step = step->getName().stripDialect().str();
    if (auto kernels = step->getAttrOfType<ArrayAttr>("vetro.kernels"))
      for (Attribute kernel : kernels)
        first.kernels.push_back(cast<StringAttr>(kernel).getValue().str());
  }
  auto passes = passesBehind(model, first.name);
  if (!passes)
    return passes.takeError();
  first.passes = std::move(*passes);
  auto frontend = buildModelGraph(model.file(), model.options());
  if (!frontend)
    return frontend.takeError();
  for (auto &[name, op] : namesOf(*frontend))
    if (name == first.name)
      first.source = ir::sourceOf(op->getLoc());
  if (first.kind == "graph")
    first.keys = keysThatDecide(model, known, first.name);
  return llvm::Error::success();
}

} // namespace vetro
