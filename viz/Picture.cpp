// From a function to nodes and edges.
#include "viz/Picture.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace vetro::viz {

std::string valueName(Value v) {
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto func = dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp());
    auto name =
        func ? func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "vetro.input") : StringAttr();
    return name ? name.str() : "arg" + std::to_string(arg.getArgNumber());
  }
  Operation *op = v.getDefiningOp();
  auto fused = dyn_cast<ir::FusedOp>(op);
  unsigned i = cast<OpResult>(v).getResultNumber();
  if (fused && op->getNumResults() > 1 && i < fused.getInnerNames().size())
    return cast<StringAttr>(fused.getInnerNames()[i]).str();
  return ir::nameOf(op).str();
}

Part partOf(StringRef name) {
  if (ir::layerOf(name) < 0)
    return Part::None;
  StringRef suffix = name.drop_front(4).split('.').second;
  return suffix.starts_with("ffn") || suffix == "l_out" ? Part::Ffn : Part::Attn;
}

/// An op that is written inside the nodes that read it.
static bool isHandle(Operation *op) { return isa<ir::GetWeightOp, ir::GetStateOp>(op); }

Picture::Picture(FunctionOpInterface func) {
  if (func.isExternal())
    return;
  addNodes(func.getFunctionBody().front());
  giveIds();
  addEdges();
  for (Node &node : all)
    node.text = textOf(node.op, node.inside);
}

Picture::Picture(std::vector<Node> nodes, std::vector<Edge> edges)
    : all(std::move(nodes)), flows(std::move(edges)) {
  for (const Node &node : all)
    if (node.layer >= 0 && !llvm::is_contained(layerNumbers, node.layer))
      layerNumbers.push_back(node.layer);
  llvm::sort(layerNumbers);
}

int Picture::layerAt(Value v) const {
  if (Operation *op = v.getDefiningOp()) {
    if (auto it = index.find(op); it != index.end())
      return all[it->second].layer;
    return ir::layerOf(ir::nameOf(op));
  }
  return -1;
}

/// Nodes from the last to the first: an op without a name belongs where its result is read, one
/// without a result where the state lives that it writes.
void Picture::addNodes(Block &block) {
  struct Place {
    int layer;
    Part part;
  };
  llvm::DenseMap<Operation *, Place> places;
  for (Operation &op : llvm::reverse(block)) {
    StringRef name = ir::nameOf(&op);
    Place place{ir::layerOf(name), partOf(name)};
    if (name.empty() && !op.use_empty()) {
      Operation *first = nullptr;
      for (Operation *user : op.getUsers())
        if (!first || user->isBeforeInBlock(first))
          first = user;
      place = places.lookup(first);
    } else if (name.empty()) {
      for (Value v : op.getOperands())
        if (auto state = v.getDefiningOp<ir::GetStateOp>())
          place = {ir::layerOf(state.getState()), partOf(state.getState())};
    }
    places[&op] = place;
  }
  for (Operation &op : block) {
    if (isHandle(&op) || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    Place place = places.lookup(&op);
    index[&op] = unsigned(all.size());
    all.push_back({&op, ir::nameOf(&op).str(), "", place.layer, place.part});
    if (place.layer >= 0 && !llvm::is_contained(layerNumbers, place.layer))
      layerNumbers.push_back(place.layer);
  }
  llvm::sort(layerNumbers);
}

/// A name belongs to the last op that carries it (the value that others read); the ops before it
/// and those without a name are called after it: "blk.0.q.matmul".
void Picture::giveIds() {
  llvm::StringSet<> taken;
  llvm::StringMap<unsigned> counts;
  llvm::DenseMap<Operation *, std::string> after; // the name that an op's value flows into
  for (Node &node : llvm::reverse(all)) {
    std::string base = node.name;
    if (base.empty())
      for (Operation *user : node.op->getUsers())
        if (auto it = after.find(user); it != after.end() && base.empty())
          base = it->second;
    if (base.empty())
      for (Value v : node.op->getOperands())
        if (auto state = v.getDefiningOp<ir::GetStateOp>())
          base = state.getState().str();
    after[node.op] = base;
    node.id = base;
    if (node.name.empty() || !taken.insert(base).second) {
      StringRef mnemonic = node.op->getName().stripDialect();
      node.id = base.empty() ? mnemonic.str() : base + "." + mnemonic.str();
      if (unsigned n = counts[node.id]++)
        node.id += "." + std::to_string(n + 1);
    }
  }
}

void Picture::addEdges() {
  // Values that are made outside the layers and read in several: written inside their readers.
  llvm::DenseMap<Value, int> readIn;
  llvm::DenseSet<Value> shared;
  for (const Node &node : all)
    for (Value v : node.op->getOperands())
      if (layerAt(v) < 0 && node.layer >= 0)
        if (auto [it, fresh] = readIn.try_emplace(v, node.layer);
            !fresh && it->second != node.layer)
          shared.insert(v);
  for (auto [to, node] : llvm::enumerate(all))
    for (OpOperand &operand : node.op->getOpOperands()) {
      Operation *def = operand.get().getDefiningOp();
      if (def && index.count(def) && !(node.layer >= 0 && shared.contains(operand.get())))
        flows.push_back({index[def], unsigned(to), operand.get(), operand.getOperandNumber(),
                         cast<OpResult>(operand.get()).getResultNumber()});
      else
        node.inside.push_back(operand.get());
    }
}

SmallVector<unsigned> Picture::nodesOf(int layer) const {
  SmallVector<unsigned> found;
  for (auto [i, node] : llvm::enumerate(all))
    if (node.layer == layer)
      found.push_back(unsigned(i));
  return found;
}

int Picture::find(StringRef name) const {
  for (auto [i, node] : llvm::enumerate(all))
    if (node.id == name)
      return int(i);
  for (auto [i, node] : llvm::enumerate(all)) {
    if (llvm::is_contained(node.text.inner, name) ||
        llvm::any_of(node.text.results, [&](const ResultText &r) { return r.name == name; }))
      return int(i);
  }
  return -1;
}

std::vector<std::string> Picture::names() const {
  std::vector<std::string> names;
  for (const Node &node : all) {
    names.push_back(node.id);
    for (const std::string &name : node.text.inner)
      if (name != node.id)
        names.push_back(name);
  }
  return names;
}

// ---- which layers are alike ----

/// What an op does, without names: its kind, attributes and result types.
static void printOp(Operation *op, llvm::raw_ostream &out) {
  out << op->getName();
  for (NamedAttribute attr : op->getAttrDictionary()) {
    StringRef key = attr.getName();
    if (key == "names" || key == "vetro.buffers" || isa<SymbolRefAttr>(attr.getValue()))
      continue;
    out << " " << key << "=" << attr.getValue();
  }
  for (Type type : op->getResultTypes())
    out << " " << type;
}

/// A value from outside the layer: an input by name, a shared one by what it computes, a handle by
/// its type; what the layer before computed by its type alone.
std::string Picture::external(Value v, int layer) const {
  std::string text;
  llvm::raw_string_ostream out(text);
  Operation *def = v.getDefiningOp();
  if (!def)
    out << valueName(v);
  else if (isHandle(def))
    printOp(def, out);
  else if (layer >= 0 && layerAt(v) < 0 && llvm::none_of(flows, [&](const Edge &e) {
             return e.value == v && all[e.to].layer == layer;
           }))
    printOp(def, out);
  else
    out << "stream " << v.getType();
  return text;
}

std::string Picture::body(int layer) const {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::DenseMap<Value, unsigned> local;
  for (unsigned i : nodesOf(layer)) {
    printOp(all[i].op, out);
    for (Value v : all[i].op->getOperands())
      if (auto [it, fresh] = local.try_emplace(v, unsigned(local.size())); fresh)
        out << " (" << external(v, layer) << ")";
      else
        out << " %" << it->second;
    for (Value v : all[i].op->getResults())
      local.try_emplace(v, unsigned(local.size()));
    out << "\n";
  }
  return text;
}

} // namespace vetro::viz
