// vetro bisect: from a reference to the op that is wrong, and what to switch off.
#include "runtime/cli/Findings.h"
#include "runtime/cli/Prompt.h"
#include "runtime/compare/Bisect.h"
#include "runtime/engine/Modules.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

namespace {
struct BisectCommand {
  BisectOptions bisect;
  std::string reference, ids, repro;
  bool json = false;
};
} // namespace

static void printReportJson(const BisectReport &report) {
  Json trials = Json::array(), recovery;
  for (const Trial &trial : report.trials)
    trials.push_back({{"off", trial.off}, {"ratio", finite(trial.ratio)}, {"gone", trial.gone()}});
  if (report.recovery)
    recovery = {{"logits_snr_db_before", finite(report.recovery->before)},
                {"logits_snr_db_after", finite(report.recovery->after)},
                {"switched_off", report.recovery->switchedOff}};
  printJson({{"first", firstJson(report.first)},
             {"blame", report.blame.empty() ? Json() : Json(report.blame)},
             {"trials", trials},
             {"recovery", recovery},
             {"repro", report.repro ? Json(report.repro->command) : Json()},
             {"missing", report.missing}});
}

static void printReport(const BisectReport &report) {
  llvm::raw_ostream &out = llvm::outs();
  printFirst(report.first);
  if (!report.first)
    return;
  for (const Trial &trial : report.trials)
    out << "  without " << trial.off << ": " << (trial.gone() ? "right" : "still wrong")
        << llvm::format(" (%.3g times its floor)\n", trial.ratio);
  out << "blame: " << report.blame << "\n";
  if (report.recovery)
    out << "logits: " << decibels(report.recovery->before) << " dB, with the reference's value in "
        << "place " << decibels(report.recovery->after) << " dB\n";
}

static llvm::Expected<BisectReport> runBisect(BisectCommand &c) {
  auto reference = openValues(c.reference);
  if (!reference)
    return reference.takeError();
  ModelOptions &model = c.bisect.model;
  catchFaults(model);
  auto ids = parseIds(c.ids, model);
  if (!ids)
    return ids.takeError();
  c.bisect.ids = std::move(*ids);
  model.nCtx = c.bisect.session.nCtx;
  c.bisect.repro = !c.repro.empty();
  Progress progress(model, c.bisect.session);
  c.bisect.progress = model.progress;
  return bisect(std::move(*reference), c.bisect);
}

static int bisectModel(BisectCommand &c) {
  auto report = runBisect(c);
  if (!report)
    return fail(report.takeError());
  if (report->repro)
    if (llvm::Error error = writeRepro(*report->repro, c.repro))
      return fail(std::move(error));
  c.json ? printReportJson(*report) : printReport(*report);
  if (report->repro && !c.json)
    llvm::outs() << "alone: cd " << c.repro << " && " << report->repro->command << "\n";
  if (!report->missing.empty() && showNotes(false))
    note("the reference lacks " + llvm::Twine(report->missing.size()) + " values (" +
         report->missing.front() + ", ...): between those it has, ops are judged together");
  return report->first ? AnswerIsNo : Done;
}

void addBisect(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<BisectCommand>();
  CLI::App *c = program.add_subcommand("bisect", "find the first wrong op of a model");
  addModelOptions(*c, o->bisect.model);
  c->add_option("REF", o->reference, "the reference's values, of PyTorch or --reference")
      ->required();
  c->add_option("--ids", o->ids, "the prompt's ids, where the reference does not tell them");
  addSessionOptions(*c, o->bisect.session);
  c->add_option("--repro", o->repro,
                "folder to make of it: the ops concerned, what they read, how to run them");
  c->add_flag("--json", o->json, "one object: first, blame, trials, recovery, repro, missing");
  c->footer("Layer outputs are compared first, then the values of one layer: of the graph with its "
            "passes "
            "applied,\nof the frontend's graph, of every compiled step. Passes and instruction set "
            "levels "
            "are switched off\none by one; last, the reference's value is patched in.\n"
            "Exit code: 0 nothing is wrong, 1 something is, 2 they cannot be compared.\n"
            "Examples:\n"
            "  vetro bisect model.gguf torch.safetensors\n"
            "  vetro bisect model.gguf torch.safetensors --repro wrong\n"
            "  vetro bisect model.gguf torch.safetensors --level avx2 --json");
  c->callback([o, &exitCode] { exitCode = bisectModel(*o); });
}

} // namespace vetro::cli
