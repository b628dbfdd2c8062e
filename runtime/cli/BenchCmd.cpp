// vetro bench: speed of prefill and decode, both from a given depth of context.
#include "runtime/abi/Layout.h"
#include "runtime/cli/Command.h"
#include "runtime/cli/Output.h"
#include "runtime/engine/Session.h"
#include "runtime/memory/Signals.h"
#include "runtime/sampling/Rng.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <ctime>

namespace vetro::cli {

namespace {
struct BenchOptions {
  ModelOptions model;
  uint32_t nUbatch = 512, nPrompt = 512, nGen = 64, depth = 0, repeat = 5;
  bool json = false;
};

struct BenchResult {
  std::vector<double> prefillSeconds, tokenSeconds;
  double cpuShare = 0; ///< processor time used, of what all threads could have used
};

/// Runs batches of seeded random ids and takes their time.
class Bench {
public:
  Bench(Session &session, const BenchOptions &o, int32_t nVocab)
      : session(session), o(o), nVocab(nVocab), rng(Rng::seeded(1)) {}
  llvm::Expected<BenchResult> run();

private:
  llvm::Expected<double> seconds(uint32_t nTokens);
  llvm::Error prefill(BenchResult &result);
  llvm::Error decode(BenchResult &result);

  Session &session;
  const BenchOptions &o;
  int32_t nVocab;
  Rng rng;
  double wall = 0, cpu = 0; ///< of the samples that count
};
} // namespace

/// Processor seconds of all threads of this process.
static double cpuSeconds() {
  timespec t = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// Appends `nTokens` tokens in one batch; the last one's logits are computed.
llvm::Expected<double> Bench::seconds(uint32_t nTokens) {
  std::vector<BatchToken> batch(nTokens);
  for (BatchToken &token : batch)
    token.id = int32_t(rng.next() % uint64_t(nVocab));
  batch.back().output = true;
  double cpuBefore = cpuSeconds();
  auto start = std::chrono::steady_clock::now();
  llvm::Error error = session.decode(batch, [](size_t, llvm::ArrayRef<float>) {});
  double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  wall += took;
  cpu += cpuSeconds() - cpuBefore;
  if (!error && interrupted())
    error = llvm::createStringError("interrupted");
  if (error)
    return std::move(error);
  return took;
}

/// One run warms up, the others count.
llvm::Error Bench::prefill(BenchResult &result) {
  for (uint32_t i = 0; o.nPrompt && i <= o.repeat; ++i) {
    session.truncate(0, o.depth);
    auto took = seconds(o.nPrompt);
    if (!took)
      return took.takeError();
    if (i)
      result.prefillSeconds.push_back(*took);
    else
      wall = cpu = 0;
  }
  return llvm::Error::success();
}

llvm::Error Bench::decode(BenchResult &result) {
  double wallBefore = wall, cpuBefore = cpu;
  for (uint32_t i = 0; o.nGen && i <= o.nGen; ++i) {
    if (i < 2)
      session.truncate(0, o.depth); // after the warm-up too: the first token is at the depth
    auto took = seconds(1);
    if (!took)
      return took.takeError();
    if (i) {
      result.tokenSeconds.push_back(*took);
    } else {
      wall = wallBefore;
      cpu = cpuBefore;
    }
  }
  return llvm::Error::success();
}

llvm::Expected<BenchResult> Bench::run() {
  BenchResult result;
  if (o.depth) {
    auto filled = seconds(o.depth);
    if (!filled)
      return filled.takeError();
  }
  wall = cpu = 0;
  if (llvm::Error error = prefill(result))
    return std::move(error);
  if (llvm::Error error = decode(result))
    return std::move(error);
  if (wall > 0)
    result.cpuShare = cpu / (wall * o.model.nThreads);
  return result;
}

/// The value below which `share` of the values lie.
static double percentile(std::vector<double> values, double share) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, size_t(share * double(values.size())))];
}

static double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// Bytes of the weights that every token reads whole: not a table of which it takes one row.
static uint64_t bytesPerToken(const Plan &plan) {
  std::vector<bool> read(plan.weights.size());
  for (const PlanStep &step : plan.steps)
    for (const PlanOperand &operand : step.operands)
      if (operand.table == PlanTable::Weight && step.op != "gather_rows")
        read[operand.index] = true;
  uint64_t bytes = 0;
  for (size_t i = 0; i < read.size(); ++i) {
    const PlanWeight &w = plan.weights[i];
    if (read[i])
      bytes += w.layout.empty() ? w.rows * w.width * sizeof(float)
                                : packedBytes(w.format, w.rows, w.width);
  }
  return bytes;
}

static double rate(double count, double seconds) { return seconds > 0 ? count / seconds : 0; }

static Json resultJson(const BenchOptions &o, const Model &model, const BenchResult &r) {
  double token = median(r.tokenSeconds), bytes = double(bytesPerToken(model.plan()));
  double p10 = percentile(r.tokenSeconds, 0.1), p90 = percentile(r.tokenSeconds, 0.9);
  double best = percentile(r.prefillSeconds, 0);
  return {{"prefill_tps", rate(o.nPrompt, median(r.prefillSeconds))},
          {"decode_tps", rate(1, token)},
          {"prefill_best_tps", rate(o.nPrompt, best)},
          {"decode_p10_tps", rate(1, p90)},
          {"decode_p90_tps", rate(1, p10)},
          {"token_ms", {{"median", 1e3 * token}, {"p10", 1e3 * p10}, {"p90", 1e3 * p90}}},
          {"weight_bytes_per_token", uint64_t(bytes)},
          {"weight_gb_per_s", rate(bytes, token) / 1e9},
          {"cpu_share", r.cpuShare},
          {"threads", o.model.nThreads},
          {"prompt", o.nPrompt},
          {"gen", o.nGen},
          {"depth", o.depth},
          {"repeat", o.repeat},
          {"kv", o.model.kvType},
          {"level", model.options().level}};
}

static void printTable(const Json &j) {
  auto number = [&](const char *key) { return j[key].get<double>(); };
  llvm::raw_ostream &out = llvm::outs();
  out << llvm::format("prefill  %9.1f tokens/s (best %.1f)\n", number("prefill_tps"),
                      number("prefill_best_tps"));
  out << llvm::format("decode   %9.1f tokens/s (p10 %.1f, p90 %.1f)\n", number("decode_tps"),
                      number("decode_p10_tps"), number("decode_p90_tps"));
  out << llvm::format("weights  %9.1f GB/s while decoding\n", number("weight_gb_per_s"));
  out << llvm::format("threads had %.0f %% of their time; level ", 100 * number("cpu_share"))
      << j["level"].get<std::string>() << ", kv " << j["kv"].get<std::string>() << "\n";
  if (number("cpu_share") < 0.96)
    out << "something else used the processors meanwhile: measure again when it has ended\n";
}

static int bench(BenchOptions &o) {
  if (o.nPrompt == 0 && o.nGen == 0)
    return fail("bench: found 0 tokens to measure, expected some; give --prompt or --gen");
  Progress progress(o.model);
  uint32_t nCtx = o.depth + std::max(o.nPrompt, o.nGen + 1);
  o.model.nCtx = nCtx;
  std::optional<InterruptEndsProcess> ends(std::in_place); // while loading
  auto model = Model::load(o.model);
  ends.reset();
  if (!model)
    return fail(model.takeError());
  if (uint32_t most = (*model)->trainContext(); most && nCtx > most)
    return fail("bench: found " + llvm::Twine(nCtx) + " positions, expected at most the model's " +
                llvm::Twine(most) + "; choose a smaller --depth, --prompt or --gen");
  auto session = Session::create(*model, {.nCtx = nCtx, .nUbatch = o.nUbatch});
  if (!session)
    return fail(session.takeError());
  progress.show("measuring", 1);
  auto result = Bench(**session, o, (*model)->tokenizer().nTokens()).run();
  progress.clear();
  if (interrupted())
    return llvm::consumeError(result.takeError()), Interrupted;
  if (!result)
    return fail(result.takeError());
  Json json = resultJson(o, **model, *result);
  if (o.json)
    printJson(json);
  else
    printTable(json);
  return Done;
}

void addBench(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<BenchOptions>();
  CLI::App *command = program.add_subcommand("bench", "measure prefill and decode");
  addModelOptions(*command, o->model);
  auto count = [&](const char *name, uint32_t &value, uint32_t least, const char *what) {
    command->add_option(name, value, what)->check(range(least, 1u << 24))->capture_default_str();
  };
  count("--prompt", o->nPrompt, 0, "tokens of the prefill; 0: none");
  count("--gen", o->nGen, 0, "tokens decoded one by one; 0: none");
  count("--depth", o->depth, 0, "positions in the cache before both");
  count("--repeat", o->repeat, 3, "prefills, after one that warms up");
  count("--ubatch", o->nUbatch, 1, "tokens per micro-batch");
  command->add_flag("--json", o->json, "one object: prefill_tps, decode_tps, ...");
  command->footer(
      "Rates are of medians: decode_tps is 1 / median token time. Sampling is not in it.\n"
      "Examples:\n"
      "  vetro bench model.gguf --threads 2\n"
      "  vetro bench model.gguf --prompt 512 --gen 64 --depth 1000 --json");
  command->callback([o, &exitCode] {
    installInterruptHandler();
    exitCode = bench(*o);
  });
}

} // namespace vetro::cli
