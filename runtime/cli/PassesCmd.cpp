// vetro passes: what each pass changed, where it fired and where it did not, and why.
#include "runtime/cli/Command.h"
#include "runtime/cli/Output.h"
#include "runtime/engine/Compile.h"
#include "viz/Picture.h"

#include "mlir/IR/AsmState.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

namespace vetro::cli {

namespace {
struct PassesOptions {
  ModelOptions model;
  std::string pass;
  int layer = -1;
  bool explain = false, json = false;
};

using Counts = std::map<std::string, unsigned>;

/// What one pass did.
struct PassRecord {
  std::string flag;
  Counts before, after;          ///< ops by kind
  std::string irBefore, irAfter; ///< of one layer, on request
  std::vector<PassRemark> remarks;

  unsigned count(bool fired) const {
    return unsigned(llvm::count_if(remarks, [&](const PassRemark &r) { return r.fired == fired; }));
  }
};
} // namespace

static Counts countOps(mlir::func::FuncOp func) {
  Counts counts;
  for (mlir::Operation &op : func.front())
    if (!llvm::isa<ir::GetWeightOp, ir::GetStateOp, mlir::func::ReturnOp>(op))
      ++counts[op.getName().stripDialect().str()];
  return counts;
}

/// The ops of a layer as text; a value is called by its name: %blk.0.q_rope.
static std::string layerText(mlir::func::FuncOp func, int layer) {
  std::string text;
  llvm::raw_string_ostream out(text);
  mlir::AsmState state(func, mlir::OpPrintingFlags().printNameLocAsPrefix());
  viz::Picture picture(func);
  for (unsigned i : picture.nodesOf(layer)) {
    picture.nodes()[i].op->print(out, state);
    out << "\n";
  }
  return text;
}

static llvm::Expected<std::vector<PassRecord>> record(Graph &graph, const PassesOptions &o) {
  std::vector<PassRecord> records;
  auto text = [&] { return o.layer < 0 ? "" : layerText(graph.forward(), o.layer); };
  PassObserver observer;
  observer.before = [&](llvm::StringRef pass, mlir::ModuleOp) {
    records.push_back({pass.str(), countOps(graph.forward()), {}, text(), "", {}});
  };
  observer.after = [&](llvm::StringRef, mlir::ModuleOp) {
    records.back().after = countOps(graph.forward());
    records.back().irAfter = text();
  };
  observer.remark = [&](llvm::StringRef, PassRemark r) {
    records.back().remarks.push_back(std::move(r));
  };
  if (llvm::Error error = runPasses(graph, o.model, observer))
    return std::move(error);
  return records;
}

// ---- text ----

static unsigned total(const Counts &counts) {
  unsigned sum = 0;
  for (const auto &[name, count] : counts)
    sum += count;
  return sum;
}

/// The kinds of ops whose number changed: "matmul 211 -> 121".
static void printCounts(const PassRecord &r, llvm::raw_ostream &out) {
  Counts kinds = r.before;
  kinds.insert(r.after.begin(), r.after.end());
  for (const auto &[name, ignored] : kinds) {
    unsigned before = r.before.count(name) ? r.before.at(name) : 0;
    unsigned after = r.after.count(name) ? r.after.at(name) : 0;
    if (before != after)
      out << llvm::formatv("    {0,-18} {1,5} -> {2,5}\n", name, before, after);
  }
}

/// "blk.*.q" and its layer, so that remarks that are the same in all layers are one line.
static std::pair<std::string, int> withoutLayer(llvm::StringRef site) {
  int layer = ir::layerOf(site);
  if (layer < 0)
    return {site.empty() ? "(no name)" : site.str(), -1};
  return {"blk.*." + site.drop_front(4).split('.').second.str(), layer};
}

static void printRemarks(const PassRecord &r, llvm::raw_ostream &out) {
  std::vector<std::pair<std::string, std::vector<int>>> lines;
  for (const PassRemark &remark : r.remarks) {
    auto [site, layer] = withoutLayer(remark.site);
    std::string line = (remark.fired ? "    at " : "    not at ") + site + ": " + remark.text;
    auto known = llvm::find_if(lines, [&](const auto &l) { return l.first == line; });
    if (known == lines.end())
      known = lines.insert(lines.end(), {line, {}});
    known->second.push_back(layer);
  }
  for (const auto &[line, layers] : lines) {
    out << line;
    if (layers.front() >= 0 && layers.size() == 1)
      out << "  (layer " << layers.front() << ")";
    else if (layers.size() > 1)
      out << "  (" << layers.size() << " times)";
    out << "\n";
  }
}

static void printRecord(const PassRecord &r, const PassesOptions &o, llvm::raw_ostream &out) {
  out << llvm::formatv("{0,-16} {1,4} fired  {2,4} refused   ops {3} -> {4}\n", r.flag,
                       r.count(true), r.count(false), total(r.before), total(r.after));
  printCounts(r, out);
  if (o.explain)
    printRemarks(r, out);
  if (o.layer < 0)
    return;
  if (r.irBefore == r.irAfter)
    out << "    layer " << o.layer << " is unchanged\n";
  else
    out << "  layer " << o.layer << " before:\n"
        << r.irBefore << "  layer " << o.layer << " after:\n"
        << r.irAfter;
}

// ---- JSON ----

static Json toJson(const PassRecord &r, const PassesOptions &o) {
  Json object{{"pass", r.flag},
              {"ops_before", r.before},
              {"ops_after", r.after},
              {"fired", Json::array()},
              {"refused", Json::array()}};
  for (const PassRemark &remark : r.remarks)
    object[remark.fired ? "fired" : "refused"].push_back(
        {{"site", remark.site}, {"text", remark.text}});
  if (o.layer >= 0)
    object["layer"] = {{"number", o.layer}, {"before", r.irBefore}, {"after", r.irAfter}};
  return object;
}

// ---- the command ----

static llvm::Error passes(PassesOptions &o) {
  auto file = openFile(o.model);
  if (!file)
    return file.takeError();
  auto graph = buildModelGraph(**file, o.model);
  if (!graph)
    return graph.takeError();
  auto layers = viz::Picture(graph->forward()).layers().size();
  if (o.layer >= int(layers))
    return llvm::createStringError("--layer: the model has layers 0 to %d, found %d",
                                   int(layers) - 1, o.layer);
  auto records = record(*graph, o);
  if (!records)
    return records.takeError();
  if (!o.pass.empty()) {
    std::string known;
    for (const PassRecord &r : *records)
      known += (known.empty() ? "" : ", ") + r.flag;
    llvm::erase_if(*records, [&](const PassRecord &r) { return r.flag != o.pass; });
    if (records->empty())
      return llvm::createStringError("--pass: no pass '%s' ran; these did: %s", o.pass.c_str(),
                                     known.c_str());
  }
  Json list = Json::array();
  for (const PassRecord &r : *records)
    if (o.json)
      list.push_back(toJson(r, o));
    else
      printRecord(r, o, llvm::outs());
  if (o.json)
    printJson({{"passes", list}});
  return llvm::Error::success();
}

void addPasses(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<PassesOptions>();
  CLI::App *command = program.add_subcommand("passes", "show what each pass changed, and why");
  addFileOptions(*command, o->model);
  addPlanOptions(*command, o->model);
  command->add_option("--pass", o->pass, "only this pass: fuse-qkv");
  command->add_option("--layer", o->layer, "print this layer before and after each pass")
      ->check(range(0, 1 << 20));
  command->add_flag("--explain", o->explain, "say for each site what was done, or why not");
  command->add_flag("--json", o->json, "one object: passes, each with ops, fired, refused");
  command->footer("Examples:\n  vetro passes model.gguf --explain\n"
                  "  vetro passes model.gguf --pass fuse-qkv --layer 0");
  command->callback([o, &exitCode] {
    llvm::Error error = passes(*o);
    exitCode = error ? fail(std::move(error)) : int(Done);
  });
}

} // namespace vetro::cli
