// vetro dump: run a prompt once and write named values to a safetensors file.
#include "runtime/cli/Output.h"
#include "runtime/cli/OutputFile.h"
#include "runtime/cli/Prompt.h"
#include "runtime/cli/RunOptions.h"
#include "runtime/engine/Hooks.h"

#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

namespace {
/// The values of a run, the ids that it read, and how it ran.
struct DumpedRun {
  std::string how;
  std::vector<int32_t> ids;
  std::vector<HookValue> values;
};

struct DumpOptions {
  ModelOptions model;
  SessionOptions session;
  PromptOptions prompt;
  std::string positions = "all", output;
  std::vector<std::string> hooks;
  bool reference = false, json = false;
};

/// Which names the globs ask for.
class Globs {
public:
  static llvm::Expected<Globs> create(llvm::ArrayRef<std::string> texts) {
    Globs globs;
    for (const std::string &text : texts) {
      auto pattern = llvm::GlobPattern::create(text);
      if (!pattern)
        return llvm::createStringError(
            "--hooks: %s: %s, expected names with * and ?, such as 'blk.*.l_out'",
            quotedText(text).c_str(), llvm::toString(pattern.takeError()).c_str());
      globs.patterns.push_back({text, std::move(*pattern)});
    }
    return globs;
  }
  bool match(llvm::StringRef name) const {
    return llvm::any_of(patterns, [&](const auto &p) { return p.second.match(name); });
  }
  /// Error: a glob that takes none of these names.
  llvm::Error checkAllUsed(llvm::ArrayRef<llvm::StringRef> names) const {
    for (const auto &[text, pattern] : patterns)
      if (llvm::none_of(names, [&](llvm::StringRef name) { return pattern.match(name); }))
        return llvm::createStringError("--hooks: no value is called %s; docs/tensor-names.md lists "
                                       "them, `vetro graph` draws them",
                                       quotedText(text).c_str());
    return llvm::Error::success();
  }

private:
  std::vector<std::pair<std::string, llvm::GlobPattern>> patterns;
};
} // namespace

static std::vector<BatchToken> allOutputs(llvm::ArrayRef<int32_t> ids) {
  std::vector<BatchToken> batch;
  for (int32_t id : ids)
    batch.push_back({id, 0, true});
  return batch;
}

static std::vector<llvm::StringRef> namesOf(llvm::ArrayRef<Hook> hooks) {
  std::vector<llvm::StringRef> names;
  for (const Hook &hook : hooks)
    names.push_back(hook.name);
  return names;
}

static llvm::Expected<DumpedRun> dumpRun(DumpOptions &o, const Globs &globs) {
  o.model.nCtx = o.session.nCtx;
  auto model = Model::load(o.model);
  if (!model)
    return model.takeError();
  auto ids = promptIds(o.prompt, (*model)->tokenizer());
  if (!ids)
    return ids.takeError();
  auto hooks = HookRecorder::list(**model);
  if (!hooks)
    return hooks.takeError();
  if (llvm::Error error = globs.checkAllUsed(namesOf(*hooks)))
    return std::move(error);
  llvm::erase_if(*hooks, [&](const Hook &h) { return !globs.match(h.name); });
  auto recorder = HookRecorder::create(**model, *hooks);
  if (!recorder)
    return recorder.takeError();
  o.session.nOutputs = o.session.nUbatch;
  auto session = Session::create(*model, o.session);
  if (!session)
    return session.takeError();
  (*session)->observe(recorder->get());
  if (llvm::Error error =
          (*session)->decode(allOutputs(*ids), [](size_t, llvm::ArrayRef<float>) {}))
    return std::move(error);
  auto values = (*recorder)->values(**session);
  if (!values)
    return values.takeError();
  return DumpedRun{describeRun((*model)->options()), std::move(*ids), std::move(*values)};
}

static llvm::Expected<DumpedRun> dumpReference(DumpOptions &o, const Globs &globs) {
  catchFaults(o.model);
  auto reference = Reference::create(o.model, o.session);
  if (!reference)
    return reference.takeError();
  auto ids = promptIds(o.prompt, (*reference)->tokenizer());
  if (!ids)
    return ids.takeError();
  std::vector<HookValue> values;
  llvm::StringMap<size_t> index;
  (*reference)->interpreterOptions.onValue = [&](mlir::Operation *op, unsigned,
                                                 const ref::Tensor &t) {
    llvm::StringRef name = ir::nameOf(op);
    if (!globs.match(name))
      return;
    auto [it, fresh] = index.try_emplace(name, values.size());
    if (fresh)
      values.emplace_back();
    values[it->second] = {dumpLayout(name, t), "reference"};
  };
  if (llvm::Error error =
          (*reference)->decode(allOutputs(*ids), [](size_t, llvm::ArrayRef<float>) {}))
    return std::move(error);
  std::vector<llvm::StringRef> names(index.keys().begin(), index.keys().end());
  if (llvm::Error error = globs.checkAllUsed(names))
    return std::move(error);
  return DumpedRun{describeRun(o.model), std::move(*ids), std::move(values)};
}

/// Keeps the last row of a value whose first axis counts tokens.
static void keepLast(NamedTensor &t) {
  llvm::StringRef name = t.name;
  if (name.ends_with("k_cache") || name.ends_with("v_cache"))
    return;
  size_t row = t.data.size() / t.shape[0];
  t.data.erase(t.data.begin(), t.data.end() - row);
  t.shape[0] = 1;
}

/// What the run read and how, for comparisons.
static std::vector<std::pair<std::string, std::string>> describe(const DumpOptions &o,
                                                                 const DumpedRun &run) {
  std::string ids;
  for (int32_t id : run.ids)
    ids += (ids.empty() ? "" : ",") + std::to_string(id);
  return {{"producer", "vetro dump"}, {"ids", ids}, {"positions", o.positions}, {"run", run.how}};
}

/// Writes the values with their labels as metadata ("label:blk.0.l_out": "ran").
static llvm::Error writeValues(const DumpOptions &o, DumpedRun &run) {
  std::vector<NamedTensor> tensors;
  auto metadata = describe(o, run);
  Json list = Json::array();
  for (HookValue &v : run.values) {
    if (o.positions == "last")
      keepLast(v.tensor);
    metadata.push_back({"label:" + v.tensor.name, v.label});
    list.push_back({{"name", v.tensor.name}, {"shape", v.tensor.shape}, {"label", v.label}});
    tensors.push_back(std::move(v.tensor));
  }
  if (llvm::Error error = writeOutput(
          o.output, [&](llvm::raw_ostream &out) { writeSafetensors(out, tensors, metadata); }))
    return error;
  if (o.json)
    printJson({{"path", o.output}, {"tensors", list}});
  return llvm::Error::success();
}

static int dump(DumpOptions &o) {
  if (llvm::Error error = checkOutput(o.output))
    return fail(std::move(error));
  if (llvm::Error error = readPrompt(o.prompt))
    return fail(std::move(error));
  auto globs = Globs::create(o.hooks);
  if (!globs)
    return fail(globs.takeError());
  Progress progress(o.model, o.session);
  auto run = o.reference ? dumpReference(o, *globs) : dumpRun(o, *globs);
  progress.clear();
  if (!run)
    return fail(run.takeError());
  size_t count = run->values.size();
  if (llvm::Error error = writeValues(o, *run))
    return fail(std::move(error));
  if (showNotes(false))
    note(o.output + ": " + llvm::Twine(count) + (count == 1 ? " value" : " values"));
  return Done;
}

void addDump(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<DumpOptions>();
  CLI::App *c = program.add_subcommand("dump", "write named values of a run to a safetensors file");
  addModelOptions(*c, o->model);
  addPromptOptions(*c, o->prompt);
  c->add_option("--hooks", o->hooks, "names, * and ? match: 'blk.*.l_out,logits'")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->required();
  c->add_option("--positions", o->positions, "rows to write: all or last")
      ->check(CLI::IsMember({"all", "last"}))
      ->capture_default_str();
  c->add_flag("--reference", o->reference, "run the interpreter instead");
  addSessionOptions(*c, o->session);
  c->add_option("-o,--output", o->output, "the file to write")->required();
  c->add_flag("--json", o->json, "one object: path, tensors (name, shape, label)");
  c->footer("Names are those of docs/tensor-names.md.\n"
            "Examples:\n"
            "  vetro dump model.gguf -p 'Hello' --hooks 'blk.0.*' -o blk0.safetensors\n"
            "  vetro dump model.gguf --ids 1,42,7 --hooks logits --positions last --json -o l.st");
  c->callback([o, &exitCode] { exitCode = dump(*o); });
}

} // namespace vetro::cli
