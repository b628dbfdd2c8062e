// vetro dump: run a prompt once and write named values to a safetensors file.
#include "runtime/cli/Output.h"
#include "runtime/cli/OutputFile.h"
#include "runtime/cli/Prompt.h"
#include "runtime/engine/Dump.h"

#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

namespace {
struct DumpOptions {
  ModelOptions model;
  SessionOptions session;
  PromptOptions prompt;
  std::string positions = "all", output;
  std::vector<std::string> hooks, edits;
  bool reference = false, json = false;
};
} // namespace

static llvm::Expected<Dump> runModel(DumpOptions &o, const HookGlobs &globs,
                                     llvm::ArrayRef<Edit> edits) {
  o.model.nCtx = o.session.nCtx;
  auto model = Model::load(o.model);
  if (!model)
    return model.takeError();
  auto ids = promptIds(o.prompt, (*model)->tokenizer());
  if (!ids)
    return ids.takeError();
  return dumpRun(*model, o.session, *ids, globs, edits);
}

static llvm::Expected<Dump> runReference(DumpOptions &o, const HookGlobs &globs,
                                         llvm::ArrayRef<Edit> edits) {
  catchFaults(o.model);
  auto reference = Reference::create(o.model, o.session);
  if (!reference)
    return reference.takeError();
  auto ids = promptIds(o.prompt, (*reference)->tokenizer());
  if (!ids)
    return ids.takeError();
  return dumpReference(**reference, o.model, *ids, globs, edits);
}

/// Writes the values, with their labels as metadata.
static llvm::Error writeValues(const DumpOptions &o, Dump &run) {
  if (o.positions == "last")
    keepLastRows(run);
  auto metadata = metadataOf(run, o.positions);
  std::vector<NamedTensor> tensors;
  Json list = Json::array();
  for (HookValue &v : run.values) {
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
  if (llvm::Error error = checkOutput(o.output, "-o", {o.model.path, o.prompt.file}))
    return fail(std::move(error));
  if (llvm::Error error = readPrompt(o.prompt))
    return fail(std::move(error));
  auto globs = HookGlobs::create(o.hooks);
  if (!globs)
    return fail(globs.takeError());
  auto edits = readEdits(o.edits);
  if (!edits)
    return fail(edits.takeError());
  Progress progress(o.model, o.session);
  auto run = o.reference ? runReference(o, *globs, *edits) : runModel(o, *globs, *edits);
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
  addEditOption(*c, o->edits);
  c->add_flag("--reference", o->reference, "run the interpreter instead");
  addRoundOption(*c, o->model);
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
