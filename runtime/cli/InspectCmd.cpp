// vetro inspect: what a model file holds and what Vetro makes of it.
#include "runtime/cli/Command.h"
#include "runtime/cli/Inspect.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

/// 98362432 -> "98.4 MB".
static std::string sizeText(uint64_t bytes) {
  const char *units[] = {"B", "kB", "MB", "GB", "TB"};
  double value = double(bytes);
  int unit = 0;
  for (; value >= 1000 && unit < 4; ++unit)
    value /= 1000;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

static std::string sizeText(const Json &bytes) { return sizeText(bytes.get<uint64_t>()); }

static llvm::StringRef text(const Json &j) { return j.get_ref<const std::string &>(); }

/// A value as one safe line: texts quoted, unless toText() has made them safe already.
static std::string valueText(const Json &entry) {
  const Json &value = entry["value"];
  bool array = text(entry["type"]).starts_with("arr");
  return !value.is_string() ? value.dump() : array ? text(value).str() : quotedText(text(value));
}

static void printFile(const Json &j) {
  const Json &f = j["file"];
  llvm::raw_ostream &out = llvm::outs();
  out << text(f["path"]) << ": GGUF v" << f["gguf_version"].get<int>() << ", "
      << sizeText(f["bytes"]) << ", " << f["tensors"].get<uint64_t>() << " tensors, "
      << f["parameters"].get<uint64_t>() << " parameters\n\nmetadata\n";
  for (const Json &kv : j["metadata"])
    out << "  " << nameText(text(kv["key"])) << " (" << text(kv["type"]) << ") = " << valueText(kv)
        << (kv.contains("overridden") ? "  overridden" : "") << "\n";
}

static std::string shapeText(const Json &shape) {
  std::string result;
  for (const Json &d : shape)
    result += (result.empty() ? "" : "x") + std::to_string(d.get<int64_t>());
  return result;
}

static void printTensors(const Json &j) {
  llvm::raw_ostream &out = llvm::outs();
  out << "\ntensors\n";
  for (const Json &t : j["tensors"])
    out << "  "
        << llvm::format("%-32s %-7s ", nameText(text(t["name"])).c_str(), text(t["type"]).data())
        << llvm::format("%-16s %s\n", shapeText(t["shape"]).c_str(), sizeText(t["bytes"]).c_str());
  out << "\nstorage types\n";
  for (const Json &t : j["types"])
    out << "  " << llvm::format("%-7s", text(t["type"]).data()) << t["tensors"].get<uint64_t>()
        << " tensors, " << t["elements"].get<uint64_t>() << " weights, " << sizeText(t["bytes"])
        << ", " << llvm::format("%.2f", t["bits_per_weight"].get<double>()) << " bits per weight\n";
}

static void printNames(const char *title, const Json &names) {
  if (names.empty())
    return;
  llvm::outs() << "  " << title << ":";
  for (const Json &name : names)
    llvm::outs() << " " << nameText(text(name));
  llvm::outs() << "\n";
}

static void printFrontend(const Json &j) {
  llvm::raw_ostream &out = llvm::outs();
  const Json &f = j["frontend"];
  out << "\nfrontend\n";
  if (f.contains("why")) {
    out << "  no graph: " << text(f["why"]) << "\n";
    return;
  }
  printNames("unused keys", f["unused_keys"]);
  printNames("unused tensors", f["unused_tensors"]);
  if (f["unused_keys"].empty() && f["unused_tensors"].empty())
    out << "  every key and tensor is used\n";
}

static void printPlan(const Json &j) {
  llvm::raw_ostream &out = llvm::outs();
  const Json &kv = j["kv_cache"], &plan = j["plan"];
  if (plan.is_object() && plan.contains("why"))
    out << "\nplan\n  none: " << text(plan["why"]) << "\n";
  if (kv.is_object())
    out << "\nkv cache (" << text(kv["element"]) << ")\n  " << text(kv["formula"]) << " = "
        << kv["bytes_per_position"].get<uint64_t>() << " bytes per position\n  x "
        << kv["context"].get<uint64_t>() << " positions = " << sizeText(kv["bytes"])
        << " (the model"
        << " knows " << kv["train_context"].get<uint64_t>() << " positions)\n";
  if (!plan.is_object() || plan.contains("why"))
    return;
  out << "\nplan\n  " << plan["steps"].get<uint64_t>() << " steps:";
  for (const auto &[op, count] : plan["ops"].items())
    out << " " << count.get<uint64_t>() << " " << op;
  out << "\n  " << plan["buffers"].get<uint64_t>()
      << " buffers: " << sizeText(plan["buffer_bytes_one_token"]) << " for one token, "
      << sizeText(plan["buffer_bytes_per_token"]) << " for each token more in a micro-batch\n";
}

/// What did not go as asked and what made the frontend wonder, on stderr.
static void printNotes(const Json &j) {
  for (const Json &line : j["notes"])
    note("note: " + text(line));
  if (j["frontend"].contains("warnings"))
    for (const Json &line : j["frontend"]["warnings"])
      note("note: " + text(line));
}

static int inspect(InspectOptions &o) {
  auto file = openFile(o.model);
  if (!file)
    return fail(file.takeError());
  Json result = inspectFile(**file, o);
  if (o.json) {
    printJson(result);
    return Done;
  }
  printFile(result);
  printTensors(result);
  printFrontend(result);
  printPlan(result);
  if (showNotes(false))
    printNotes(result);
  return Done;
}

void addInspect(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<InspectOptions>();
  CLI::App *command =
      program.add_subcommand("inspect", "what a file holds and what becomes of it; runs nothing");
  addFileOptions(*command, o->model);
  addPlanOptions(*command, o->model);
  command->add_option("-c,--ctx", o->nCtx, "context whose cache is counted")
      ->check(range(0u, 1u << 30))
      ->capture_default_str();
  command->add_flag("--all", o->all, "long texts and arrays in full");
  command->add_flag("--json", o->json, "one object: file, metadata, tensors, types, frontend, ...");
  command->footer("Examples:\n"
                  "  vetro inspect model.gguf\n"
                  "  vetro inspect model.gguf --kv f32 -c 8192 --json");
  command->callback([o, &exitCode] { exitCode = inspect(*o); });
}

} // namespace vetro::cli
