// A run to look at, from a command line.
#include "runtime/cli/Recordings.h"
#include "runtime/builtin/Builtin.h"
#include "runtime/cli/Output.h"
#include "runtime/cli/Sampling.h"
#include "runtime/engine/RunOptions.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace vetro::cli {

bool isTrace(llvm::StringRef path) {
  llvm::SmallString<128> document(path);
  llvm::sys::path::append(document, "trace.json");
  return path.ends_with(".vtrace") || llvm::sys::fs::exists(document);
}

/// A trace, alone or with the model that made it.
static llvm::Expected<std::unique_ptr<Recording>> openTrace(RecordingOptions &o,
                                                            Progress &progress) {
  auto trace = TraceFile::open(o.model.path);
  if (!trace || o.traceModel.empty()) {
    if (trace)
      return Recording::of(std::move(*trace));
    return trace.takeError();
  }
  ModelOptions options = o.model;
  options.path = o.traceModel;
  if (llvm::Error error = useBuiltin(options.path, options.open))
    return std::move(error);
  std::string run = (*trace)->document()["options"].dump();
  if (!takeRunOptions(run, options))
    return llvm::createStringError((*trace)->path() +
                                   ": its options are not what vetro run writes");
  auto model = Model::load(options);
  progress.clear();
  if (!model)
    return model.takeError();
  auto again = optionsOf((*trace)->document());
  if (!again)
    return llvm::createStringError((*trace)->path() + ": " + llvm::toString(again.takeError()));
  o.record.generate = again->generate; // edits run what was recorded
  o.record.session.nCtx = again->session.nCtx;
  return Recording::of(std::move(*trace), std::move(*model));
}

static llvm::Expected<std::unique_ptr<Recording>> runPrompt(RecordingOptions &o,
                                                            Progress &progress) {
  o.model.nCtx = o.record.session.nCtx;
  auto model = Model::load(o.model);
  if (!model)
    return model.takeError();
  auto prompt = promptIds(o.prompt, (*model)->tokenizer());
  if (!prompt)
    return prompt.takeError();
  auto edits = readEdits(o.edits);
  if (!edits)
    return edits.takeError();
  o.record.edits = std::move(*edits);
  o.record.parseSpecial = o.prompt.parseSpecial;
  size_t done = 0;
  RecordOptions record = o.record;
  record.onText = [&](llvm::StringRef) {
    progress.show("running", double(++done) / std::max(1u, record.generate.nPredict));
  };
  progress.show("tracing the compiler", 0);
  TracedPrompt traced{*prompt, o.prompt.idsOption->count() ? nullptr : &o.prompt.text,
                      o.prompt.parseSpecial};
  return Recording::record(std::move(*model), traced, record);
}

/// What a file has as JSON; discarded where it has none; null without a file.
static llvm::Expected<Json> readDiff(const std::string &path) {
  if (path.empty())
    return Json();
  auto text = readWhole(path);
  if (!text)
    return text.takeError();
  return Json::parse(*text, nullptr, /*allow_exceptions=*/false);
}

llvm::Expected<std::unique_ptr<Recording>> openRecording(RecordingOptions &o,
                                                         llvm::StringRef command) {
  bool traced = isTrace(o.model.path);
  if (!traced && !o.traceModel.empty())
    return llvm::createStringError(command + ": --model goes with a trace, and " +
                                   quotedText(o.model.path) + " is none");
  if (!traced)
    if (llvm::Error error = readPrompt(o.prompt))
      return std::move(error);
  auto diff = readDiff(o.diff);
  if (!diff)
    return diff.takeError();
  Progress progress(o.model);
  auto recording = traced ? openTrace(o, progress) : runPrompt(o, progress);
  progress.clear();
  if (recording && !o.diff.empty())
    if (llvm::Error error = (*recording)->compareWith(std::move(*diff)))
      return llvm::createStringError("--diff: " + quotedText(o.diff) + " " +
                                     llvm::toString(std::move(error)));
  return recording;
}

void addRecordingOptions(CLI::App &command, RecordingOptions &o) {
  o.record.generate.nPredict = 16;
  addModelOptions(command, o.model);
  addPromptOptions(command, o.prompt);
  command.add_option("--model", o.traceModel,
                     "the model of a trace, to see what the trace does not hold");
  command.add_option("--diff", o.diff, "what vetro diff --json printed, to show beside the run");
  command.add_option("-n,--predict", o.record.generate.nPredict, "tokens to generate")
      ->check(range(1u, 100000u))
      ->capture_default_str();
  addSessionOptions(command, o.record.session);
  addSamplingOptions(command, o.record.generate.sampling);
  command.add_flag("--ignore-eos", o.record.generate.ignoreEos, "go on past the end of generation");
  addEditOption(command, o.edits);
}

} // namespace vetro::cli
