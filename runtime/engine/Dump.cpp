// Runs a prompt and keeps the values that globs name.
#include "runtime/engine/Dump.h"
#include "runtime/engine/MappedFile.h"

namespace vetro {

llvm::Expected<HookGlobs> HookGlobs::create(llvm::ArrayRef<std::string> texts) {
  HookGlobs globs;
  for (const std::string &text : texts) {
    auto pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return llvm::createStringError(
          "--hooks: %s: %s, expected names with * and ?, such as 'blk.*.l_out'",
          gguf::escaped(text).c_str(), llvm::toString(pattern.takeError()).c_str());
    globs.patterns.push_back({text, std::move(*pattern)});
  }
  return globs;
}

bool HookGlobs::match(llvm::StringRef name) const {
  return llvm::any_of(patterns, [&](const auto &p) { return p.second.match(name); });
}

llvm::Error HookGlobs::checkAllUsed(llvm::ArrayRef<llvm::StringRef> names) const {
  for (const auto &[text, pattern] : patterns)
    if (llvm::none_of(names, [&](llvm::StringRef name) { return pattern.match(name); }))
      return llvm::createStringError("--hooks: no value is called %s; docs/tensor-names.md lists "
                                     "them, `vetro graph` draws them",
                                     gguf::escaped(text).c_str());
  return llvm::Error::success();
}

/// With `logits` all tokens want them: the head's values then have a row for each. Else the last
/// one does, since 512 rows of logits may cost as much as all layers.
static llvm::Error decodePrompt(Evaluator &evaluator, llvm::ArrayRef<int32_t> ids, bool logits) {
  std::vector<BatchToken> batch;
  for (auto [i, id] : llvm::enumerate(ids))
    batch.push_back({id, 0, logits || i + 1 == ids.size()});
  size_t rows = 0;
  if (llvm::Error error = evaluator.decode(batch, [&](size_t, llvm::ArrayRef<float>) { ++rows; }))
    return error;
  if (rows == (logits ? ids.size() : 1))
    return llvm::Error::success();
  return llvm::createStringError(std::errc::interrupted, "interrupted before all was computed");
}

static std::vector<llvm::StringRef> namesOf(llvm::ArrayRef<Hook> hooks) {
  std::vector<llvm::StringRef> names;
  for (const Hook &hook : hooks)
    names.push_back(hook.name);
  return names;
}

/// "blk.3.l_out *= 0; blk.4.q += 1".
static std::string textsOf(llvm::ArrayRef<Edit> edits) {
  std::string text;
  for (const Edit &edit : edits)
    text += (text.empty() ? "" : "; ") + edit.text;
  return text;
}

llvm::Expected<Dump> dumpRun(std::shared_ptr<const Model> model, SessionOptions options,
                             llvm::ArrayRef<int32_t> ids, const HookGlobs &globs,
                             llvm::ArrayRef<Edit> edits) {
  auto edited = modelFor(std::move(model), edits);
  if (!edited)
    return edited.takeError();
  model = std::move(*edited);
  auto hooks = HookRecorder::list(*model);
  if (!hooks)
    return hooks.takeError();
  if (llvm::Error error = globs.checkAllUsed(namesOf(*hooks)))
    return std::move(error);
  llvm::erase_if(*hooks, [&](const Hook &h) { return !globs.match(h.name); });
  auto recorder = HookRecorder::create(*model, *hooks);
  if (!recorder)
    return recorder.takeError();
  bool logits = llvm::any_of(*hooks, [](const Hook &hook) { return hook.byOutput; });
  options.nOutputs = logits ? options.nUbatch : 1;
  auto session = Session::create(model, options);
  if (!session)
    return session.takeError();
  auto editor = Editor::create(*model, edits, int64_t(ids.size()));
  if (!editor)
    return editor.takeError();
  (*editor)->next = recorder->get();
  (*recorder)->onRecomputed = [&](mlir::Operation *op, unsigned result, ref::Tensor &t) {
    (*editor)->applyToWhole(op, result, t);
  };
  (*session)->observe(editor->get());
  if (llvm::Error error = decodePrompt(**session, ids, logits))
    return std::move(error);
  if (llvm::Error error = (*editor)->checkUsed())
    return std::move(error);
  auto values = (*recorder)->values(**session);
  if (!values)
    return values.takeError();
  if (llvm::Error error = checkNotCut(model->file())) // what was recomputed read it again
    return std::move(error);
  return Dump{describeRun(model->options()), ids.vec(), std::move(*values), textsOf(edits)};
}

llvm::Expected<Dump> dumpReference(Reference &reference, const ModelOptions &options,
                                   llvm::ArrayRef<int32_t> ids, const HookGlobs &globs,
                                   llvm::ArrayRef<Edit> edits) {
  auto checkUsed = editReference(reference, edits, int64_t(ids.size()));
  if (!checkUsed)
    return checkUsed.takeError();
  std::vector<HookValue> values;
  llvm::StringMap<size_t> index;
  reference.interpreterOptions.onValue = [&](mlir::Operation *op, unsigned, const ref::Tensor &t) {
    llvm::StringRef name = ir::nameOf(op);
    if (!globs.match(name))
      return;
    auto [it, fresh] = index.try_emplace(name, values.size());
    if (fresh)
      values.emplace_back();
    values[it->second] = {dumpLayout(name, t), "reference"};
  };
  bool logits = llvm::any_of(reference.graph().forward().front(), [&](mlir::Operation &op) {
    return globs.match(ir::nameOf(&op)) && isByOutput(&op);
  });
  llvm::Error error = decodePrompt(reference, ids, logits);
  reference.interpreterOptions.onValue = {};
  reference.interpreterOptions.onResult = {};
  if (error)
    return std::move(error);
  if (llvm::Error unused = (*checkUsed)())
    return std::move(unused);
  std::vector<llvm::StringRef> names(index.keys().begin(), index.keys().end());
  if (llvm::Error unused = globs.checkAllUsed(names))
    return std::move(unused);
  return Dump{describeRun(options), ids.vec(), std::move(values), textsOf(edits)};
}

static void keepLastRow(NamedTensor &t) {
  llvm::StringRef name = t.name;
  if (name.ends_with("k_cache") || name.ends_with("v_cache"))
    return;
  size_t row = t.data.size() / t.shape[0];
  t.data.erase(t.data.begin(), t.data.end() - row);
  t.shape[0] = 1;
}

void keepLastRows(Dump &dump) {
  for (HookValue &value : dump.values)
    keepLastRow(value.tensor);
}

std::vector<std::pair<std::string, std::string>> metadataOf(const Dump &dump,
                                                            llvm::StringRef positions) {
  std::string ids;
  for (int32_t id : dump.ids)
    ids += (ids.empty() ? "" : ",") + std::to_string(id);
  std::vector<std::pair<std::string, std::string>> pairs = {
      {"producer", "vetro dump"}, {"ids", ids}, {"positions", positions.str()}, {"run", dump.how}};
  if (!dump.edits.empty())
    pairs.push_back({"edits", dump.edits});
  for (const HookValue &value : dump.values)
    pairs.push_back({"label:" + value.tensor.name, value.label});
  return pairs;
}

} // namespace vetro
