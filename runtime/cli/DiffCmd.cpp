// vetro diff: two files of values beside each other, and what is wrong first.
#include "runtime/cli/DiffPage.h"
#include "runtime/cli/Findings.h"
#include "runtime/cli/OutputFile.h"
#include "runtime/cli/Prompt.h"
#include "runtime/compare/Diff.h"
#include "runtime/engine/Modules.h"
#include "runtime/engine/RunOptions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace vetro::cli {

namespace {
struct DiffCommand {
  DiffOptions diff;
  std::string ours, reference, ids;
  std::optional<std::string> svg, html; ///< files to write
  std::string commandLine;              ///< for the page
  bool all = false, json = false;
};
} // namespace

static Json errorJson(const std::optional<Proof> &proof, llvm::ArrayRef<int64_t> shape) {
  if (!proof)
    return nullptr;
  Json json = {{"ratio", finite(proof->worst)},
               {"passes", !(proof->worst > 1)},
               {"snr_db", finite(snrDb(proof->nmse))},
               {"at", placeOf(shape, proof->worstAt)},
               {"op", proof->op}};
  if (proof->ties)
    json["ties"] = proof->ties;
  return json;
}

static Json rowJson(const DiffRow &row) {
  const Difference &d = row.difference;
  Json json = {{"name", row.name},
               {"label", row.label},
               {"shape", row.shape},
               {"equal", d.equal()},
               {"snr_db", finite(d.snrDb())},
               {"nmse", finite(d.nmse)},
               {"cosine", finite(d.cosine)},
               {"max_abs", finite(d.maxAbs)},
               {"max_at", placeOf(row.shape, d.maxAt)},
               {"max_ours", finite(d.ours)},
               {"max_reference", finite(d.theirs)},
               {"q999", finite(d.q999)},
               {"worst_row", d.worstRow},
               {"worst_row_snr_db", finite(snrDb(d.rowNmse))},
               {"worst_head", d.worstHead},
               {"worst_head_snr_db", finite(snrDb(d.headNmse))},
               {"not_finite", d.nonFinite},
               {"transforms", row.transforms},
               {"graph", errorJson(row.graph, row.shape)},
               {"kernel", errorJson(row.kernel, row.shape)}};
  if (row.logits)
    json["logits"] = {{"mean_kl", row.logits->meanKl},
                      {"max_kl", row.logits->maxKl},
                      {"top1", row.logits->top1},
                      {"top10", row.logits->top10},
                      {"worst_rank", row.logits->worstRank}};
  return json;
}

static void printReportJson(const DiffReport &report) {
  Json rows = Json::array();
  for (const DiffRow &row : report.rows)
    rows.push_back(rowJson(row));
  printJson({{"first", firstJson(report.first)},
             {"ours_only", report.oursOnly},
             {"reference_only", report.referenceOnly},
             {"notes", report.notes},
             {"rows", rows}});
}

// ---- for people ----

static std::string ratioText(const std::optional<Proof> &proof) {
  return proof ? significant(proof->worst) + (proof->worst > 1 ? " !" : "") : "-";
}

/// The rows that tell the course of the error: layer outputs and the ends, or where a floor was
/// passed.
static bool isShown(const DiffRow &row, bool all) {
  llvm::StringRef name = row.name;
  auto passed = [](const std::optional<Proof> &p) { return p && p->worst > 1; };
  return all || passed(row.graph) || passed(row.kernel) || !name.starts_with("blk.") ||
         name.ends_with(".l_out");
}

static void printTable(const DiffReport &report, bool all) {
  llvm::raw_ostream &out = llvm::outs();
  out << llvm::format("%-22s %-16s %8s %10s %9s %9s %9s\n", "value", "shape", "snr dB", "max abs",
                      "cosine", "graph", "kernel");
  for (const DiffRow &row : report.rows)
    if (isShown(row, all))
      out << llvm::format("%-22s %-16s %8s %10.3g %9.6f %9s %9s\n", nameText(row.name).c_str(),
                          shapeText(row.shape).c_str(), decibels(row.difference.snrDb()).c_str(),
                          row.difference.maxAbs, row.difference.cosine,
                          ratioText(row.graph).c_str(), ratioText(row.kernel).c_str());
}

/// "4 values only in ours: a, b, c, ..."
static void printNames(llvm::StringRef what, const std::vector<std::string> &names) {
  if (names.empty())
    return;
  llvm::outs() << names.size() << (names.size() == 1 ? " value " : " values ") << what << ": ";
  for (size_t i = 0; i < std::min<size_t>(names.size(), 8); ++i)
    llvm::outs() << (i ? ", " : "") << nameText(names[i]);
  llvm::outs() << (names.size() > 8 ? ", ...\n" : "\n");
}

static void printReport(const DiffReport &report, bool all) {
  printTable(report, all);
  for (const DiffRow &row : report.rows)
    if (row.logits)
      llvm::outs() << logitsText(*row.logits) << "\n";
  for (const auto &[transform, names] : namesByTransform(report))
    printNames("of the reference brought to our layout by " + transform, names);
  printNames("only in ours", report.oursOnly);
  printNames("only in the reference", report.referenceOnly);
  for (const std::string &note : report.notes)
    llvm::outs() << "note: " << note << "\n";
  printFirst(report.first);
}

static llvm::Expected<DiffReport> runDiff(DiffCommand &c) {
  auto ours = openValues(c.ours);
  if (!ours)
    return ours.takeError();
  auto reference = openValues(c.reference);
  if (!reference)
    return reference.takeError();
  ModelOptions &model = c.diff.model;
  if (!model.path.empty())
    catchFaults(model);
  if (llvm::Error error = takeRunOptions(**ours, model))
    return std::move(error);
  auto ids = parseIds(c.ids, model);
  if (!ids)
    return ids.takeError();
  c.diff.ids = std::move(*ids);
  model.nCtx = c.diff.session.nCtx;
  Progress progress(model, c.diff.session);
  c.diff.progress = model.progress;
  return diff(**ours, **reference, c.diff);
}

// ---- files ----

/// Asked before the work.
static llvm::Error checkFiles(const DiffCommand &c) {
  for (const auto &[option, path] : {std::pair("--svg", c.svg), std::pair("--html", c.html)})
    if (path)
      if (llvm::Error error = checkOutput(*path, option, {c.ours, c.reference, c.diff.model.path}))
        return error;
  if (c.svg && c.svg == c.html)
    return llvm::createStringError("--svg and --html name the same file " + quotedText(*c.svg) +
                                   "; give each its own");
  return llvm::Error::success();
}

static llvm::Error writeFiles(const DiffCommand &c, const DiffReport &report) {
  std::optional<double> floorDb;
  if (c.diff.model.path.empty())
    floorDb = c.diff.leastSnrDb;
  viz::ErrorCurve curve =
      curveOf(report, "Error of " + c.ours + " against " + c.reference, floorDb);
  if (c.svg)
    if (llvm::Error error =
            writeOutput(*c.svg, [&](llvm::raw_ostream &out) { out << viz::drawErrorCurve(curve); }))
      return error;
  if (!c.html)
    return llvm::Error::success();
  return writeOutput(
      *c.html, [&](llvm::raw_ostream &out) { writeDiffPage(out, report, curve, c.commandLine); });
}

static int diffFiles(DiffCommand &c) {
  if (!c.ids.empty() && c.diff.model.path.empty())
    return fail("--ids needs --model");
  if (llvm::Error error = checkFiles(c))
    return fail(std::move(error));
  auto report = runDiff(c);
  if (!report)
    return fail(report.takeError());
  if (llvm::Error error = writeFiles(c, *report))
    return fail(std::move(error));
  if (c.json)
    printReportJson(*report);
  else
    printReport(*report, c.all);
  if (report->first)
    return AnswerIsNo;
  if (!report->complete)
    return fail("the reference lacks " + llvm::Twine(report->oursOnly.size()) +
                " values that ours has (" + nameText(report->oursOnly.front()) +
                ", ...): --common compares the rest");
  return Done;
}

void addDiff(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<DiffCommand>();
  CLI::App *c = program.add_subcommand("diff", "compare two files of values, name by name");
  c->add_option("OURS", o->ours, "safetensors of `vetro dump`")->required();
  c->add_option("REF", o->reference,
                "the reference's values: safetensors, .npy, .npz, a folder of .npy files, or of "
                "transformers' debugger")
      ->required();
  addModelOptions(*c, o->diff.model, "--model");
  addSessionOptions(*c, o->diff.session);
  c->add_option("--ids", o->ids, "the prompt's ids, where neither file tells them");
  c->add_flag("--common", o->diff.common, "values that the reference lacks are no failure");
  c->add_option("--snr", o->diff.leastSnrDb, "without --model: decibels that count as the same")
      ->capture_default_str();
  c->add_flag("--all", o->all, "print every value, not only layer outputs");
  c->add_flag("--json", o->json, "one object: first, rows, ours_only, reference_only, notes");
  c->add_option("--svg", o->svg, "write the error of each value in dB as a drawing");
  c->add_option("--html", o->html, "write one page with the verdict, that drawing and all values");
  c->footer("With --model two isolated errors stand beside the accumulated one, as multiples of "
            "their floor:\n"
            "graph, our op on the reference's inputs; kernel, our value against our own inputs.\n"
            "How ours ran (--override-kv, --kv, --disable, --activation, --level) its file tells.\n"
            "Exit code: 0 nothing passes its floor, 1 something does, 2 they cannot be compared.\n"
            "Examples:\n"
            "  vetro diff ours.safetensors torch.safetensors --model model.gguf\n"
            "  vetro diff before.safetensors after.safetensors --snr 60 --all\n"
            "  vetro diff ours.safetensors torch.safetensors --svg curve.svg --html report.html");
  c->callback([o, c, &exitCode] {
    o->commandLine = commandLine(*c);
    exitCode = diffFiles(*o);
  });
}

} // namespace vetro::cli
