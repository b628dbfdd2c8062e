// vetro eval: run a function of Vetro's IR alone, on values from a file.
#include "runtime/cli/Command.h"
#include "runtime/cli/Findings.h"
#include "runtime/cli/OutputFile.h"
#include "runtime/compare/Metrics.h"
#include "runtime/engine/Program.h"
#include "runtime/engine/Proof.h"
#include "runtime/jit/Compile.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

namespace {
struct EvalOptions {
  std::string program, values, output, level;
  double leastSnrDb = 90;
  bool reference = false, json = false;
};

/// A result, and how far it is from what it should be.
struct Evaluated {
  NamedTensor value;
  std::optional<Proof> kernel;        ///< machine code against the interpreter
  std::optional<Difference> expected; ///< against the value of this name in the file
  bool isRight(double leastSnrDb) const {
    return !(kernel && !(kernel->worst <= 1)) && !(expected && expected->snrDb() < leastSnrDb);
  }
};
} // namespace

static llvm::Expected<Evaluated> judge(const std::string &name, ref::Tensor value,
                                       const TensorFile &values) {
  Evaluated e;
  if (value.data.empty())
    value.data.assign(value.ids.begin(), value.ids.end());
  e.value = {name, {value.shape.begin(), value.shape.end()}, std::move(value.data)};
  if (!values.find(name))
    return e;
  auto expected = values.read(name);
  if (!expected)
    return expected.takeError();
  if (expected->shape != e.value.shape)
    return llvm::createStringError(values.path() + ": " + name +
                                   " has another shape than what the program returns");
  e.expected = difference(e.value.shape, e.value.data, expected->data);
  return e;
}

static llvm::Expected<std::vector<Evaluated>> evaluate(const EvalOptions &o) {
  auto program = Program::open(o.program);
  if (!program)
    return program.takeError();
  auto values = o.values.empty() ? TensorFile::of("no values", {}) : nullptr;
  if (!values) {
    auto file = TensorFile::open(o.values);
    if (!file)
      return file.takeError();
    values = std::move(*file);
  }
  if (llvm::Error error = (*program)->bind(*values))
    return std::move(error);
  auto exact = (*program)->interpret();
  if (!exact)
    return exact.takeError();
  std::vector<std::string> names = (*program)->resultNames();
  std::vector<Evaluated> all;
  if (o.reference) {
    for (auto [name, result] : llvm::zip_equal(names, *exact)) {
      auto e = judge(name, result.value, *values);
      if (!e)
        return e.takeError();
      all.push_back(std::move(*e));
    }
    return all;
  }
  auto ran = (*program)->run(o.level.empty() ? bestLevel() : llvm::StringRef(o.level));
  if (!ran)
    return ran.takeError();
  Proof proof = compare(*ran, exact->front(), {});
  auto e = judge(names.front(), std::move(*ran), *values);
  if (!e)
    return e.takeError();
  e->kernel = proof;
  all.push_back(std::move(*e));
  return all;
}

// ---- output ----

static void print(const Evaluated &e, double leastSnrDb) {
  llvm::raw_ostream &out = llvm::outs();
  out << nameText(e.value.name) << " [";
  llvm::interleaveComma(e.value.shape, out);
  out << "]\n";
  size_t width = e.value.shape.empty() ? 1 : e.value.shape.back();
  size_t rows = width ? e.value.data.size() / width : 0;
  for (size_t r = 0; r < std::min<size_t>(rows, 4); ++r) {
    out << " ";
    for (size_t i = 0; i < std::min<size_t>(width, 6); ++i)
      out << llvm::format(" %10.6g", e.value.data[r * width + i]);
    out << (width > 6 ? "  ...\n" : "\n");
  }
  if (rows > 4)
    out << "  ... (" << rows << " rows)\n";
  if (e.kernel)
    out << "  machine code against the interpreter: " << llvm::format("%.3g", e.kernel->worst)
        << " times its bound: " << (e.kernel->worst <= 1 ? "right" : "wrong") << "\n";
  if (e.expected)
    out << "  against the file's value: " << decibels(e.expected->snrDb()) << " dB, asked for "
        << llvm::format("%g", leastSnrDb) << ": "
        << (e.expected->snrDb() < leastSnrDb ? "differs" : "the same") << "\n";
}

static Json toJson(const Evaluated &e, double leastSnrDb) {
  Json json = {{"name", e.value.name}, {"shape", e.value.shape}, {"right", e.isRight(leastSnrDb)}};
  if (e.kernel)
    json["kernel"] = {{"ratio", finite(e.kernel->worst)}, {"at", e.kernel->worstAt}};
  if (e.expected)
    json["expected"] = {{"snr_db", finite(e.expected->snrDb())},
                        {"max_abs", finite(e.expected->maxAbs)}};
  return json;
}

static int evaluateProgram(const EvalOptions &o) {
  if (!o.output.empty())
    if (llvm::Error error = checkOutput(o.output, "-o", {o.program, o.values}))
      return fail(std::move(error));
  auto results = evaluate(o);
  if (!results)
    return fail(results.takeError());
  if (!o.output.empty()) {
    std::vector<NamedTensor> tensors;
    for (const Evaluated &e : *results)
      tensors.push_back(e.value);
    if (llvm::Error error = writeOutput(o.output, [&](llvm::raw_ostream &out) {
          writeSafetensors(out, tensors, {{"producer", "vetro"}});
        }))
      return fail(std::move(error));
  }
  Json json = Json::array();
  bool right = true;
  for (const Evaluated &e : *results) {
    right &= e.isRight(o.leastSnrDb);
    o.json ? json.push_back(toJson(e, o.leastSnrDb)) : print(e, o.leastSnrDb);
  }
  if (o.json)
    printJson({{"results", json}});
  return right ? Done : AnswerIsNo;
}

void addEval(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<EvalOptions>();
  CLI::App *c = program.add_subcommand("eval", "run a function of Vetro's IR alone");
  c->add_option("PROGRAM", o->program, "MLIR text: one function of Vetro's ops")->required();
  c->add_option("VALUES", o->values, "what it reads, and what it should return, by name");
  addLevelOption(*c, o->level);
  c->add_flag("--reference", o->reference, "by the interpreter alone");
  c->add_option("--min-snr", o->leastSnrDb, "dB to the file's value that count as the same")
      ->capture_default_str();
  c->add_option("-o,--output", o->output, "safetensors file to write the results to");
  c->add_flag("--json", o->json, "one object: results");
  c->footer("The function is compiled, run, and compared with the interpreter; where VALUES has a "
            "value of the\nresult's name, with that too. An argument reads the value that its "
            "vetro.input names, else \"arg0\", ...\n"
            "Exit code: 0 all are right, 1 one differs, 2 it cannot be run.\n"
            "Examples:\n"
            "  vetro eval graph.mlir inputs.safetensors\n"
            "  vetro eval repro/region.mlir repro/tensors.safetensors --reference");
  c->callback([o, &exitCode] { exitCode = evaluateProgram(*o); });
}

} // namespace vetro::cli
