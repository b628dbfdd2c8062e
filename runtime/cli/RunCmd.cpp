// vetro run: a prompt in, text out.
#include "runtime/cli/Output.h"
#include "runtime/cli/Prompt.h"
#include "runtime/cli/Sampling.h"
#include "runtime/engine/Engine.h"
#include "runtime/engine/Reference.h"
#include "runtime/engine/Session.h"
#include "runtime/engine/Tracer.h"
#include "runtime/memory/Signals.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

namespace vetro::cli {

namespace {
struct TraceOptions {
  std::string path; ///< empty: none
  std::vector<std::string> hooks = {"blk.*.l_out"};
};

struct RunOptions {
  ModelOptions model;
  SessionOptions session;
  GenerateOptions generate;
  PromptOptions prompt;
  int64_t nPredict = 128;
  TraceOptions trace;
  bool reference = false, json = false, verbose = false;
};

/// What produces logits, with the tokenizer and the notes beside it.
struct Runner {
  std::unique_ptr<Evaluator> evaluator;
  const Tokenizer *tokenizer; ///< the evaluator keeps it
  std::vector<std::string> notes;
  double loadMs = 0;
};
} // namespace

static llvm::Expected<Runner> loadReference(RunOptions &o) {
  catchFaults(o.model);
  auto reference = Reference::create(o.model, o.session);
  if (!reference)
    return reference.takeError();
  const Tokenizer *tokenizer = &(*reference)->tokenizer();
  std::vector<std::string> notes = (*reference)->graph().report.warnings;
  return Runner{std::move(*reference), tokenizer, std::move(notes), 0};
}

/// A Ctrl-C ends the process meanwhile: nothing has been written.
static llvm::Expected<Runner> load(RunOptions &o) {
  InterruptEndsProcess ends;
  if (o.reference)
    return loadReference(o);
  o.model.nCtx = o.session.nCtx;
  auto model = Model::load(o.model);
  if (!model)
    return model.takeError();
  auto session = Session::create(*model, o.session);
  if (!session)
    return session.takeError();
  std::vector<std::string> notes = (*model)->file().notes().vec();
  llvm::append_range(notes, (*model)->plan().warnings);
  return Runner{std::move(*session), &(*model)->tokenizer(), std::move(notes), 0};
}

static double decodeMs(const Timings &t) {
  double sum = 0;
  for (double ms : t.tokenMs)
    sum += ms;
  return sum;
}

static Json timingsJson(size_t nPrompt, double loadMs, const Generation &g) {
  double ms = decodeMs(g.timings);
  Json t = {{"load_ms", loadMs}, {"prompt_tokens", nPrompt}, {"prompt_ms", g.timings.promptMs}};
  t["prompt_tps"] = g.timings.promptMs > 0 ? 1000 * nPrompt / g.timings.promptMs : 0;
  t["decode_tokens"] = g.timings.tokenMs.size();
  t["decode_ms"] = ms;
  t["decode_tps"] = ms > 0 ? 1000 * g.timings.tokenMs.size() / ms : 0;
  return t;
}

static void printSummary(size_t nPrompt, double loadMs, const Generation &g) {
  double ms = decodeMs(g.timings);
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "loaded in " << llvm::format("%.0f", loadMs) << " ms; prompt " << nPrompt << " tokens in "
      << llvm::format("%.1f", g.timings.promptMs) << " ms; " << g.ids.size() << " generated";
  if (ms > 0)
    out << " at " << llvm::format("%.1f", 1000 * g.timings.tokenMs.size() / ms) << " per second";
  note(text + "; stop: " + stopName(g.stop));
}

/// Notes about the file, the vocabulary and the sampler, before the first token.
static llvm::Error printNotes(const RunOptions &o, const Runner &runner) {
  for (const std::string &text : runner.notes)
    note("note: " + text);
  for (const std::string &text : runner.tokenizer->warnings())
    note("note: " + text);
  auto chain = Chain::create(o.generate.sampling, runner.tokenizer->nTokens());
  if (!chain)
    return chain.takeError();
  note("sampler: " + chain->describe());
  return llvm::Error::success();
}

static int printResult(const RunOptions &o, double loadMs, llvm::ArrayRef<int32_t> prompt,
                       const Generation &g) {
  if (o.json)
    printJson({{"prompt_ids", prompt.vec()},
               {"ids", g.ids},
               {"text", g.text},
               {"stop", stopName(g.stop)},
               {"timings", timingsJson(prompt.size(), loadMs, g)}});
  else
    llvm::outs() << "\n";
  llvm::outs().flush();
  if (showNotes(o.verbose))
    printSummary(prompt.size(), loadMs, g);
  return g.stop == StopReason::Interrupt ? Interrupted : Done;
}

namespace {
struct Tracing {
  std::unique_ptr<TraceWriter> writer;
  std::unique_ptr<Tracer> tracer; ///< null where none was asked for
};
} // namespace

static llvm::Expected<Tracing> startTrace(const RunOptions &o, Runner &runner,
                                          llvm::ArrayRef<int32_t> prompt, Progress &progress) {
  if (o.trace.path.empty())
    return Tracing();
  auto writer = TraceWriter::create(o.trace.path);
  if (!writer)
    return writer.takeError();
  progress.show("tracing the compiler", 0);
  TracedPrompt traced{prompt, o.prompt.idsOption->count() ? nullptr : &o.prompt.text,
                      o.prompt.parseSpecial};
  std::vector<std::string> hooks = o.trace.hooks;
  llvm::erase_if(hooks, [](const std::string &text) { return text.empty(); });
  auto tracer = Tracer::create(**writer, hooks, static_cast<Session &>(*runner.evaluator), traced,
                               o.generate.sampling);
  if (!tracer)
    return tracer.takeError();
  return Tracing{std::move(*writer), std::move(*tracer)};
}

static int run(RunOptions &o) {
  if (llvm::Error error = readPrompt(o.prompt))
    return fail(std::move(error));
  Progress progress(o.model, o.session);
  auto start = std::chrono::steady_clock::now();
  auto runner = load(o);
  progress.clear();
  if (!runner)
    return fail(runner.takeError());
  runner->loadMs =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  auto prompt = promptIds(o.prompt, *runner->tokenizer);
  if (!prompt)
    return fail(prompt.takeError());
  if (showNotes(o.verbose))
    if (llvm::Error error = printNotes(o, *runner))
      return fail(std::move(error));
  // More than the context holds cannot come: the cap keeps reservations small.
  uint64_t most = runner->evaluator->nCtx() + 1;
  o.generate.nPredict = uint32_t(o.nPredict < 0 ? most : std::min<uint64_t>(o.nPredict, most));
  auto onText = [&](llvm::StringRef text) {
    if (o.json)
      return;
    progress.clear();
    llvm::outs() << text;
    llvm::outs().flush();
  };
  auto tracing = startTrace(o, *runner, *prompt, progress);
  if (!tracing)
    return fail(tracing.takeError());
  Tracer *tracer = tracing->tracer.get();
  auto result =
      generate(*runner->evaluator, *runner->tokenizer, *prompt, o.generate, onText, tracer);
  progress.clear();
  if (!result)
    return fail(result.takeError());
  if (tracer)
    if (llvm::Error error = tracer->finish(*result))
      return fail(std::move(error));
  return printResult(o, runner->loadMs, *prompt, *result);
}

static void addTraceOptions(CLI::App &command, TraceOptions &o) {
  CLI::Option *trace =
      command.add_option("--trace", o.path, "write the whole run down: a folder, or FILE.vtrace");
  trace->excludes(command.get_option("--reference"));
  command
      .add_option("--trace-hooks", o.hooks,
                  "values to keep in it, of those that steps write; '': none")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(trace)
      ->default_str("blk.*.l_out");
}

void addRun(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<RunOptions>();
  CLI::App *command = program.add_subcommand("run", "continue a prompt");
  addModelOptions(*command, o->model);
  addPromptOptions(*command, o->prompt);
  command->add_option("-n,--predict", o->nPredict, "tokens to generate; -1: until the context ends")
      ->check(range(int64_t(-1), int64_t(1) << 40))
      ->capture_default_str();
  addSessionOptions(*command, o->session);
  addSamplingOptions(*command, o->generate.sampling);
  command->add_flag("--ignore-eos", o->generate.ignoreEos, "go on past the end of generation");
  command->add_flag("--reference", o->reference,
                    "run the interpreter: weights in f32, nothing fused or quantised; slow");
  addRoundOption(*command, o->model);
  addTraceOptions(*command, o->trace);
  command->add_flag("--json", o->json, "one object: prompt_ids, ids, text, stop, timings");
  command->add_flag("-v,--verbose", o->verbose, "notes, sampler chain and timings on stderr");
  command->footer("Examples:\n"
                  "  vetro run model.gguf -p 'The capital of France is' -n 16\n"
                  "  vetro run model.gguf -f letter.txt --temp 0.8 --top-p 0.95 --seed 7\n"
                  "  vetro run model.gguf --ids 1,42,7 --json\n"
                  "  vetro run model.gguf -p 'Hello' -n 4 --trace hello.vtrace");
  command->callback([o, &exitCode] {
    installInterruptHandler();
    exitCode = run(*o);
  });
}

} // namespace vetro::cli
