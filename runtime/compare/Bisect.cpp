// The search, coarse first.
#include "runtime/compare/Bisect.h"
#include "compiler/ir/Names.h"
#include "compiler/ir/Shapes.h"
#include "runtime/compare/Metrics.h"
#include "runtime/engine/Editor.h"
#include "runtime/jit/Compile.h"

namespace vetro {
namespace {

using Wanted = std::function<bool(llvm::StringRef)>;

/// Layer outputs, and values outside the layers.
bool isCoarse(llvm::StringRef name) { return ir::layerOf(name) < 0 || name.ends_with(".l_out"); }

class Bisection {
public:
  Bisection(std::shared_ptr<const TensorFile> file, const BisectOptions &options)
      : file(std::move(file)), reference(*this->file), options(options), ids(options.ids) {}

  llvm::Expected<BisectReport> run() {
    if (llvm::Error error = prepare())
      return std::move(error);
    show(0.1);
    if (llvm::Error error = findGraph())
      return std::move(error);
    show(0.5);
    if (llvm::Error error = findKernel())
      return std::move(error);
    if (!report.first)
      return std::move(report);
    show(0.7);
    if (llvm::Error error = explain(*report.first, *model, known))
      return std::move(error);
    if (llvm::Error error = report.first->kind == "kernel" ? blameKernel() : blameGraph())
      return std::move(error);
    show(0.8);
    if (llvm::Error error = cutOut())
      return std::move(error);
    show(0.9);
    if (llvm::Error error = confirm())
      return std::move(error);
    return std::move(report);
  }

private:
  void show(double fraction) const {
    if (options.progress)
      options.progress("bisecting", fraction);
  }
  llvm::Error prepare();
  llvm::Error findGraph();
  llvm::Error findKernel();
  llvm::Error blameGraph();
  llvm::Error blameKernel();
  llvm::Error cutOut();
  llvm::Error confirm();

  /// The errors of the graph at a stage, by name, beginning anew at the wanted names.
  llvm::Expected<std::unique_ptr<Reference>>
  interpreterAt(Stage stage, const std::vector<std::string> &disable = {}) const;
  llvm::Expected<llvm::StringMap<Proof>> walk(Stage stage, const Wanted &wanted,
                                              const std::vector<std::string> &disable = {});
  llvm::Expected<std::unique_ptr<Session>> openSession(std::shared_ptr<const Model> m) const;
  /// The worst ratio of a value's step in a model that runs otherwise.
  llvm::Expected<double> kernelRatio(const ModelOptions &other) const;
  llvm::Expected<std::vector<float>> logitsOf(std::shared_ptr<const Model> m, Editor *editor) const;

  std::shared_ptr<const TensorFile> file;
  const TensorFile &reference;
  const BisectOptions &options;
  std::vector<int32_t> ids;
  const ReferenceType *type = nullptr;
  std::string kvType; ///< the reference's
  std::shared_ptr<const Model> model;
  std::unique_ptr<Reference> frontend; ///< its graph alone is looked at
  llvm::StringMap<Proof> known;        ///< all names of the reference's
  Proof wrong;                         ///< of the first bad value of the graph
  BisectReport report;
};

llvm::Error Bisection::prepare() {
  auto dtype = referenceTypeOf(reference);
  if (!dtype)
    return dtype.takeError();
  type = *dtype;
  auto kv = kvTypeOf(reference);
  if (!kv)
    return kv.takeError();
  kvType = *kv;
  if (ranOnKernels(reference))
    return llvm::createStringError(reference.path() +
                                   " was run by kernels that round activations; make the "
                                   "reference with PyTorch or --reference");
  if (ids.empty()) {
    auto told = idsOf(reference);
    if (!told)
      return told.takeError();
    ids = std::move(*told);
  }
  if (ids.empty())
    return llvm::createStringError(reference.path() +
                                   " does not tell its tokens; name them with --ids");
  auto loaded = Model::load(options.model);
  if (!loaded)
    return loaded.takeError();
  model = *loaded;
  auto made = Reference::create(options.model, options.session);
  if (!made)
    return made.takeError();
  frontend = std::move(*made);
  for (auto &[name, op] : namesOf(frontend->graph())) {
    if (reference.find(name))
      known[name] = {};
    else
      report.missing.push_back(name);
  }
  if (known.empty())
    return llvm::createStringError(reference.path() + " has none of the model's values; "
                                                      "docs/tensor-names.md lists their names");
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Reference>>
Bisection::interpreterAt(Stage stage, const std::vector<std::string> &disable) const {
  ModelOptions exact = options.model;
  exact.kvType = kvType, exact.round.clear();
  llvm::append_range(exact.disable, disable);
  return Reference::create(exact, options.session, stage);
}

llvm::Expected<llvm::StringMap<Proof>> Bisection::walk(Stage stage, const Wanted &wanted,
                                                       const std::vector<std::string> &disable) {
  auto interpreter = interpreterAt(stage, disable);
  if (!interpreter)
    return interpreter.takeError();
  auto proofs = graphErrors(**interpreter, reference, ids, *type, wanted);
  if (!proofs)
    return proofs.takeError();
  return worstByName(*proofs);
}

/// The layer of the first value that is off; -1: outside the layers; none: all are right.
static std::optional<int> firstLayer(const Graph &graph, const llvm::StringMap<Proof> &worst) {
  auto first = findFirst(graph, worst, {});
  return first ? std::optional(ir::layerOf(first->name)) : std::nullopt;
}

llvm::Error Bisection::findGraph() {
  auto coarse = walk(Stage::Fused, isCoarse);
  if (!coarse)
    return coarse.takeError();
  std::optional<int> layer = firstLayer(frontend->graph(), *coarse);
  Wanted all = [](llvm::StringRef) { return true; };
  Wanted near = [layer](llvm::StringRef name) {
    return isCoarse(name) || ir::layerOf(name) == *layer;
  };
  auto fine = walk(Stage::Fused, layer ? near : all);
  if (!fine)
    return fine.takeError();
  // Each op of a layer may be within its floor where the layer is not: then that is all known.
  if (layer && !firstLayer(frontend->graph(), *fine))
    fine = std::move(coarse);
  report.first = findFirst(frontend->graph(), *fine, {}, "pass");
  if (!report.first)
    return llvm::Error::success();
  wrong = fine->lookup(report.first->name);
  auto plain = walk(Stage::Frontend, layer ? near : all);
  if (!plain)
    return plain.takeError();
  if (plain->lookup(report.first->name).worst > 1)
    report.first->kind = "graph";
  return llvm::Error::success();
}

// ---- kernels ----

llvm::Expected<std::unique_ptr<Session>>
Bisection::openSession(std::shared_ptr<const Model> m) const {
  SessionOptions o = options.session;
  o.nOutputs = o.nUbatch = std::min<uint32_t>(o.nUbatch, uint32_t(ids.size()));
  auto session = Session::create(std::move(m), o);
  if (session && options.onSession)
    options.onSession(**session);
  return session;
}

llvm::Error Bisection::findKernel() {
  auto open = [&](uint32_t) { return openSession(model); };
  auto proofs = kernelErrors(*model, open, nullptr, ids);
  if (!proofs)
    return proofs.takeError();
  auto kernel = findFirst(frontend->graph(), {}, worstByName(*proofs));
  if (!kernel)
    return llvm::Error::success();
  for (auto &[name, op] : namesOf(frontend->graph())) {
    if (report.first && report.first->name == name)
      return llvm::Error::success();
    if (kernel->name == name)
      break;
  }
  report.first = std::move(kernel);
  return llvm::Error::success();
}

llvm::Expected<double> Bisection::kernelRatio(const ModelOptions &other) const {
  auto changed = Model::load(other);
  if (!changed)
    return changed.takeError();
  auto open = [&](uint32_t) { return openSession(*changed); };
  auto proofs = kernelErrors(**changed, open, nullptr, ids, report.first->name);
  if (!proofs)
    return proofs.takeError();
  double worst = 0;
  for (const Proof &proof : *proofs)
    worst = std::max(worst, proof.worst);
  return worst;
}

// ---- blame ----

llvm::Error Bisection::blameGraph() {
  FirstBad &first = *report.first;
  report.blame = "the frontend";
  if (first.kind == "graph")
    return llvm::Error::success();
  report.blame = "the passes together: none alone makes it right";
  int layer = ir::layerOf(first.name);
  Wanted near = [layer](llvm::StringRef name) {
    return isCoarse(name) || ir::layerOf(name) == layer;
  };
  for (const std::string &pass : first.passes) {
    auto worst = walk(Stage::Fused, near, {pass});
    if (!worst)
      return worst.takeError();
    report.trials.push_back({pass, worst->lookup(first.name).worst});
    if (!report.trials.back().gone())
      continue;
    report.blame = pass;
    break;
  }
  return llvm::Error::success();
}

llvm::Error Bisection::blameKernel() {
  FirstBad &first = *report.first;
  auto attempt = [&](std::string off, const ModelOptions &other) -> llvm::Error {
    auto ratio = kernelRatio(other);
    if (!ratio)
      return ratio.takeError();
    report.trials.push_back({std::move(off), *ratio});
    if (report.blame.empty() && report.trials.back().gone())
      report.blame = report.trials.back().off;
    return llvm::Error::success();
  };
  for (llvm::StringRef level : levelsBelow(model->options().level)) {
    ModelOptions other = options.model;
    other.level = level.str();
    if (llvm::Error error =
            attempt("level " + model->options().level + " (it ran at " + level.str() + ")", other))
      return error;
  }
  for (const std::string &pass : first.passes) {
    ModelOptions other = options.model;
    other.disable.push_back(pass);
    if (llvm::Error error = attempt(pass, other))
      return error;
  }
  if (report.blame.empty())
    report.blame =
        (first.kernels.empty() ? first.step : first.kernels.front()) + ", at every level";
  return llvm::Error::success();
}

llvm::Error Bisection::cutOut() {
  if (!options.repro)
    return llvm::Error::success();
  auto made = [&]() -> llvm::Expected<Repro> {
    const FirstBad &first = *report.first;
    if (first.kind == "kernel") {
      auto session = openSession(model);
      if (!session)
        return session.takeError();
      return reproOfStep(*model, first.name, **session, ids);
    }
    auto at = interpreterAt(first.kind == "pass" ? Stage::Fused : Stage::Frontend);
    if (!at)
      return at.takeError();
    return reproOfGraph((*at)->graph(), wrong, reference, known, ids, model->file());
  }();
  if (!made)
    return made.takeError();
  report.repro = std::move(*made);
  return llvm::Error::success();
}

// ---- confirmation ----

llvm::Expected<std::vector<float>> Bisection::logitsOf(std::shared_ptr<const Model> m,
                                                       Editor *editor) const {
  auto session = openSession(m);
  if (!session)
    return session.takeError();
  (*session)->observe(editor);
  std::vector<float> all;
  std::vector<BatchToken> batch;
  for (int32_t id : ids)
    batch.push_back({id, 0, true});
  if (llvm::Error error = (*session)->decode(batch, [&](size_t, llvm::ArrayRef<float> row) {
        all.insert(all.end(), row.begin(), row.end());
      }))
    return std::move(error);
  return all;
}

llvm::Error Bisection::confirm() {
  const std::string &name = report.first->name;
  bool isNumbers = llvm::any_of(namesOf(frontend->graph()), [&](const auto &pair) {
    return pair.first == name && ir::storageFormat(pair.second->getResult(0)) == "f32";
  });
  if (!reference.find("logits") || !reference.find(name) || !isNumbers)
    return llvm::Error::success();
  Edit edit{"the reference's " + name, name, {}, EditOp::Set, 0, file, "", {}};
  auto before = logitsOf(model, nullptr);
  if (!before)
    return before.takeError();
  auto changed = modelFor(model, edit);
  if (!changed)
    return changed.takeError();
  auto editor = Editor::create(**changed, edit, int64_t(ids.size()));
  if (!editor)
    return editor.takeError();
  auto after = logitsOf(*changed, editor->get());
  if (!after)
    return after.takeError();
  std::vector<int64_t> shape = {int64_t(ids.size()), int64_t(model->plan().nVocab)};
  std::vector<std::string> transforms;
  auto theirs = readReference(reference, "logits", shape, transforms);
  if (!theirs)
    return theirs.takeError();
  auto off = llvm::ArrayRef((*changed)->options().disable).drop_front(options.model.disable.size());
  report.recovery = Recovery{difference(shape, *before, theirs->data).snrDb(),
                             difference(shape, *after, theirs->data).snrDb(), off.vec()};
  return llvm::Error::success();
}

} // namespace

llvm::Expected<BisectReport> bisect(std::shared_ptr<const TensorFile> reference,
                                    const BisectOptions &options) {
  return Bisection(std::move(reference), options).run();
}

} // namespace vetro
