// Where edits take hold.
#include "runtime/engine/Editor.h"
#include "compiler/ir/Extents.h"
#include "compiler/ir/Names.h"
#include "compiler/ir/Shapes.h"
#include "runtime/engine/Hooks.h"

#include "llvm/Support/GlobPattern.h"
#include <numeric>

using namespace mlir;

namespace vetro {
namespace {

using NamedValues = llvm::StringMap<Value>;

/// The values that steps write as f32, by name; of several ops of one name the last one's. Names
/// inside fused steps are left out.
NamedValues exposedValues(func::FuncOp forward) {
  NamedValues values;
  for (Operation &op : forward.front()) {
    if (!ir::isStep(&op))
      continue;
    auto fused = dyn_cast<ir::FusedOp>(&op);
    for (OpResult result : op.getResults())
      if (StringRef name = resultName(&op, result.getResultNumber());
          !name.empty() && ir::storageFormat(result) == "f32")
        values[name] = result;
    for (Attribute name : fused ? fused.getInnerNames() : ArrayAttr::get(op.getContext(), {}))
      if (op.getNumResults() < 2 && cast<StringAttr>(name).getValue() != ir::nameOf(&op))
        values.erase(cast<StringAttr>(name).getValue());
  }
  return values;
}

llvm::Expected<llvm::GlobPattern> globOf(const Edit &edit) {
  auto glob = llvm::GlobPattern::create(edit.name);
  if (!glob)
    return llvm::createStringError("edit '" + llvm::Twine(edit.text) +
                                   "': " + llvm::toString(glob.takeError()));
  return glob;
}

llvm::Error noSuchName(const Edit &edit) {
  return llvm::createStringError("edit '" + llvm::Twine(edit.text) + "': no value is called " +
                                 edit.name + "; docs/tensor-names.md lists them");
}

/// Passes, as items of --disable, that hid any of these names on the way to the plan.
llvm::Expected<std::set<std::string>> passesThatHide(Graph &graph, const ModelOptions &options,
                                                     const std::set<std::string> &names) {
  std::set<std::string> items;
  NamedValues before = exposedValues(graph.forward());
  PassObserver observer;
  observer.after = [&](StringRef flag, ModuleOp) {
    NamedValues now = exposedValues(graph.forward());
    for (const std::string &name : names)
      if (before.count(name) && !now.count(name))
        if (Operation *container = stepWith(graph, name))
          items.insert((flag + "@" + ir::nameOf(container)).str());
    before = std::move(now);
  };
  if (llvm::Error error = runPasses(graph, options, observer))
    return std::move(error);
  return items;
}

/// The names of the frontend's graph that any edit asks for. Error: an edit that asks for none,
/// also not of the plan's own values.
llvm::Expected<std::set<std::string>> namesFor(const gguf::File &file, const ModelOptions &options,
                                               ArrayRef<Edit> edits) {
  auto graph = buildModelGraph(file, options);
  if (!graph)
    return graph.takeError();
  NamedValues all = exposedValues(graph->forward());
  if (llvm::Error error = runPasses(*graph, options))
    return std::move(error);
  NamedValues planned = exposedValues(graph->forward());
  std::set<std::string> names;
  for (const Edit &edit : edits) {
    auto glob = globOf(edit);
    if (!glob)
      return glob.takeError();
    auto matches = [&](StringRef name) { return glob->match(name); };
    for (StringRef name : all.keys())
      if (matches(name))
        names.insert(name.str());
    if (llvm::none_of(all.keys(), matches) && llvm::none_of(planned.keys(), matches))
      return noSuchName(edit);
  }
  return names;
}

/// What the places of an axis stand for.
struct AxisLists {
  ArrayRef<int32_t> tokens, outputs, cells; ///< positions
  ArrayRef<int32_t> of(ir::Axis axis) const {
    return axis == ir::Axis::Tokens ? tokens : axis == ir::Axis::Outputs ? outputs : cells;
  }
};

/// The value as it is dumped; negative dimensions: not known yet.
EditView viewOf(StringRef name, RankedTensorType type, ArrayRef<ir::Axis> axes,
                const AxisLists *lists, float *data) {
  EditView view{data, {}, {}, {}};
  unsigned dynamic = 0;
  for (int64_t d : type.getShape()) {
    bool known = !ShapedType::isDynamic(d);
    ir::Axis axis = known ? ir::Axis::Tokens : axes[dynamic++];
    view.shape.push_back(known ? d : lists ? int64_t(lists->of(axis).size()) : -1);
  }
  view.strides.resize(view.shape.size(), 1);
  for (size_t i = view.shape.size(); i-- > 1;)
    view.strides[i - 1] = view.strides[i] * view.shape[i];
  if (isHeadsFirst(name)) {
    std::swap(view.shape[0], view.shape[1]);
    std::swap(view.strides[0], view.strides[1]);
  }
  if (lists)
    view.positions = lists->of(axes.front());
  return view;
}

/// The type of a value with its heads apart also where they lie side by side: attn_ctx [T, H*D] is
/// [T, H, D] here, as the transpose before its reshape gives it.
RankedTensorType splitType(Value value, StringRef name) {
  if (isa<ir::TransposeOp>(value.getDefiningOp()))
    return ir::shapeOf(value);
  if (auto attention = value.getDefiningOp<ir::AttentionOp>())
    return ir::shapeOf(attention.getQ());
  return namedType(value, name);
}

/// Edits of one value.
struct Place {
  std::string name;
  RankedTensorType type;
  SmallVector<ir::Axis, 2> axes; ///< of the type's dynamic dimensions
  std::vector<ValueEdit> edits;

  Place(StringRef name, Value value)
      : name(name.str()), type(splitType(value, name)), axes(ir::dynamicAxes(value)) {}
  llvm::Error add(const Edit &edit, int64_t nTokens) {
    auto checked =
        ValueEdit::create(edit, name, viewOf(name, type, axes, nullptr, nullptr).shape, nTokens);
    if (checked)
      edits.push_back(std::move(*checked));
    return checked.takeError();
  }
  void apply(const AxisLists &lists, float *data) {
    for (ValueEdit &edit : edits)
      edit.apply(viewOf(name, type, axes, &lists, data));
  }
  llvm::Error checkUsed() const {
    for (const ValueEdit &edit : edits)
      if (llvm::Error error = edit.checkUsed())
        return error;
    return llvm::Error::success();
  }
};

} // namespace

struct EditPlaces {
  std::vector<std::pair<Value, Place>> list;

  /// Finds each edit's values. Error: it has none, or does not fit.
  static llvm::Expected<std::unique_ptr<EditPlaces>> create(func::FuncOp forward,
                                                            ArrayRef<Edit> edits, int64_t nTokens);
  /// The place of an op's result; null: none.
  Place *find(Operation *op, unsigned result) {
    for (auto &[value, place] : list)
      if (value.getDefiningOp() == op && cast<OpResult>(value).getResultNumber() == result)
        return &place;
    return nullptr;
  }
  /// The same in a copy of the graph: of the ops of one name the last has it.
  Place *findInCopy(Operation *op, unsigned result) {
    StringRef name = resultName(op, result);
    auto found = llvm::find_if(list, [&](const auto &pair) { return pair.second.name == name; });
    if (name.empty() || found == list.end())
      return nullptr;
    for (Operation *later = op->getNextNode(); later; later = later->getNextNode())
      if (ir::isStep(later) && ir::nameOf(later) == name)
        return nullptr;
    return &found->second;
  }
  llvm::Error checkUsed() const {
    for (const auto &[value, place] : list)
      if (llvm::Error error = place.checkUsed())
        return error;
    return llvm::Error::success();
  }
};

llvm::Expected<std::unique_ptr<EditPlaces>>
EditPlaces::create(func::FuncOp forward, ArrayRef<Edit> edits, int64_t nTokens) {
  auto places = std::make_unique<EditPlaces>();
  NamedValues values = exposedValues(forward);
  llvm::StringMap<size_t> index;
  for (const Edit &edit : edits) {
    auto glob = globOf(edit);
    if (!glob)
      return glob.takeError();
    bool any = false;
    for (const auto &[name, value] : values) {
      if (!glob->match(name))
        continue;
      any = true;
      auto [it, fresh] = index.try_emplace(name, places->list.size());
      if (fresh)
        places->list.push_back({value, Place(name, value)});
      if (llvm::Error error = places->list[it->second].second.add(edit, nTokens))
        return std::move(error);
    }
    if (!any)
      return noSuchName(edit);
  }
  return places;
}

// ---- a plan ----

llvm::Error exposeValues(const gguf::File &file, ModelOptions &options, ArrayRef<Edit> edits) {
  auto names = namesFor(file, options, edits);
  if (!names)
    return names.takeError();
  for (;;) {
    auto graph = buildModelGraph(file, options);
    if (!graph)
      return graph.takeError();
    auto items = passesThatHide(*graph, options, *names);
    if (!items)
      return items.takeError();
    if (items->empty())
      return llvm::Error::success();
    for (const std::string &item : *items) {
      if (llvm::is_contained(options.disable, item))
        return llvm::createStringError("edit: a value stays inside its step although %s is off",
                                       item.c_str());
      options.disable.push_back(item);
    }
  }
}

llvm::Expected<std::shared_ptr<const Model>> modelFor(std::shared_ptr<const Model> model,
                                                      ArrayRef<Edit> edits) {
  if (edits.empty())
    return model;
  ModelOptions options = model->options();
  if (llvm::Error error = exposeValues(model->file(), options, edits))
    return std::move(error);
  if (options.disable == model->options().disable)
    return model;
  return Model::load(std::move(options));
}

Editor::~Editor() = default;

llvm::Expected<std::unique_ptr<Editor>> Editor::create(const Model &model, ArrayRef<Edit> edits,
                                                       int64_t nTokens) {
  auto graph = model.plannedGraph();
  if (!graph)
    return graph.takeError();
  auto places = EditPlaces::create((*graph)->forward(), edits, nTokens);
  if (!places)
    return places.takeError();
  std::unique_ptr<Editor> editor(new Editor);
  editor->places = std::move(*places);
  editor->steps = stepOps(**graph);
  for (Operation *&op : editor->steps)
    if (llvm::none_of(op->getResults(), [&](OpResult result) {
          return editor->places->find(op, result.getResultNumber());
        }))
      op = nullptr;
  return editor;
}

void Editor::after(uint32_t step, PlanRunner &runner) {
  const VtBatch &batch = runner.batch();
  std::vector<int32_t> outputs;
  for (uint32_t o = 0; o < batch.nOutputs; ++o)
    outputs.push_back(batch.positions[batch.outputRows[o]]);
  AxisLists lists{{batch.positions, batch.nTokens}, outputs, {batch.cellPositions, batch.nCells}};
  if (Operation *op = steps[step])
    for (OpResult result : op->getResults())
      if (Place *place = places->find(op, result.getResultNumber()))
        place->apply(lists, static_cast<float *>(runner.address(
                                step, op->getNumOperands() + result.getResultNumber())));
  if (next && next->wants(step))
    next->after(step, runner);
}

void Editor::applyToWhole(Operation *op, unsigned result, ref::Tensor &t) {
  Place *place = places->find(op, result);
  if (!place)
    return;
  std::vector<int32_t> all(isHeadsFirst(place->name) ? t.dim(1) : t.dim(0));
  std::iota(all.begin(), all.end(), 0);
  std::vector<int32_t> cells(t.dim(isHeadsFirst(place->name) ? -1 : 0));
  std::iota(cells.begin(), cells.end(), 0);
  place->apply({all, all, cells}, t.data.data());
}

llvm::Error Editor::checkUsed() const { return places->checkUsed(); }

// ---- the interpreter ----

llvm::Expected<std::function<llvm::Error()>> editReference(Reference &reference,
                                                           ArrayRef<Edit> edits, int64_t nTokens) {
  auto made = EditPlaces::create(reference.graph().forward(), edits, nTokens);
  if (!made)
    return made.takeError();
  std::shared_ptr<EditPlaces> places = std::move(*made);
  reference.interpreterOptions.onResult = [places, &reference](Operation *op, unsigned i,
                                                               ref::Bounded &result) {
    Place *place = ir::isStep(op) ? places->findInCopy(op, i) : nullptr;
    if (!place)
      return;
    ArrayRef<ref::Tensor> inputs = reference.inputsOfBatch();
    std::vector<int32_t> outputs;
    for (int32_t row : inputs[4].ids)
      outputs.push_back(inputs[1].ids[row]);
    place->apply({inputs[1].ids, outputs, inputs[6].ids}, result.value.data.data());
  };
  return [places] { return places->checkUsed(); };
}

bool editMatches(const Edit &edit, StringRef name) {
  auto glob = globOf(edit);
  if (glob)
    return glob->match(name);
  llvm::consumeError(glob.takeError());
  return false;
}

} // namespace vetro
