// What runs is the plan, the plan is the graph, and fused steps are proved against the interpreter.
#include "runtime/engine/Hooks.h"
#include "tests/unit/engine/EngineTest.h"
#include <map>

using namespace vetro;
using namespace vetro::test;

namespace {
struct Order : StepObserver {
  std::vector<uint32_t> seen;
  bool wants(uint32_t) override { return true; }
  void after(uint32_t step, PlanRunner &) override { seen.push_back(step); }
};

std::vector<std::string> paths() {
  std::vector<std::string> result;
  for (const RealModel &m : realModels)
    if (std::string path = realModel(m); !path.empty())
      result.push_back(path);
  if (std::string path = storiesModel(); !path.empty())
    result.push_back(path);
  return result;
}
} // namespace

TEST_CASE("every step that executes comes from the plan made from the graph") {
  for (const std::string &path : paths()) {
    auto m = load(path);
    const Graph *graph = must(m->plannedGraph());
    std::vector<mlir::Operation *> ops = stepOps(*graph);
    REQUIRE(ops.size() == m->plan().steps.size());
    for (size_t i = 0; i < ops.size(); ++i) {
      CHECK(m->plan().steps[i].op == ops[i]->getName().stripDialect().str());
      CHECK(m->plan().steps[i].name == ir::nameOf(ops[i]).str());
    }
    auto s = open(m);
    Order order;
    s->observe(&order);
    lastLogits(*s, randomIds(5, m->tokenizer().nTokens(), 1));
    REQUIRE(order.seen.size() == ops.size());
    for (size_t i = 0; i < ops.size(); ++i)
      CHECK(order.seen[i] == i);
  }
}

static void proveAll(const std::string &path, std::shared_ptr<Model> m) {
  auto recorder = must(HookRecorder::ofAllSteps(*m));
  SessionOptions o;
  o.nUbatch = o.nOutputs = 9;
  auto s = open(m, o);
  s->observe(recorder.get());
  allLogits(*s, randomIds(21, m->tokenizer().nTokens(), 5));
  auto proofs = must(recorder->prove(*s));
  CHECK(proofs.size() >= m->plan().steps.size()); // qkv_matmul has three results
  std::map<std::string, Proof> worst;             // by op
  uint64_t values = 0;
  for (const Proof &p : proofs) {
    INFO(path << " " << p.op << " " << p.name << " worst " << p.worst << " nmse " << p.nmse
              << " codes off " << p.codesOff << " of " << p.values);
    values += p.values;
    CHECK(p.values > 0);
    CHECK(p.worst <= 1);
    CHECK(p.codesWrong == 0);
    // Roundings may differ by one code in at most 1 % of the entries.
    CHECK(p.codesOff * 100 <= p.values);
    if (p.codesOff == 0)
      CHECK(p.nmse <= 1e-10);
    Proof &w = worst[p.op];
    w.worst = std::max(w.worst, p.worst);
    w.values += p.values, w.codesOff += p.codesOff;
  }
  std::printf("proved %zu results, %llu values: %s\n", proofs.size(), (unsigned long long)values,
              path.c_str());
  for (const auto &[op, w] : worst)
    std::printf("  %-18s worst %.3f of its bound, %llu values, %llu codes off\n", op.c_str(),
                w.worst, (unsigned long long)w.values, (unsigned long long)w.codesOff);
}

TEST_CASE("every step is proved within its bound, in several micro-batches") {
  for (const std::string &path : paths())
    proveAll(path, load(path, "f16", 2));
}

TEST_CASE("every step is proved at the lower levels") {
  std::string path = storiesModel();
  if (path.empty())
    return;
  for (const char *level : {"avx2", "scalar"}) {
    ModelOptions options;
    options.path = path;
    options.level = level;
    options.nThreads = 2;
    proveAll(path + " " + level, must(Model::load(options)));
  }
}

TEST_CASE("looking changes nothing") {
  for (const std::string &path : paths()) {
    auto m = load(path, "f16", 2);
    auto ids = randomIds(30, m->tokenizer().nTokens(), 9);
    SessionOptions o;
    o.nOutputs = 512;
    std::vector<float> plain = allLogits(*open(m, o), ids);
    auto hooks = must(HookRecorder::list(*m));
    auto all = must(HookRecorder::create(*m, hooks));
    auto s = open(m, o);
    s->observe(all.get());
    CHECK(allLogits(*s, ids) == plain);
    auto values = must(all->values(*s));
    CHECK(values.size() == hooks.size());

    // One hook alone has the bits that it has among all.
    auto one = must(HookRecorder::create(*m, hooks[hooks.size() / 2]));
    auto s2 = open(m, o);
    s2->observe(one.get());
    CHECK(allLogits(*s2, ids) == plain);
    auto value = must(one->values(*s2));
    REQUIRE(value.size() == 1);
    CHECK(value[0].tensor.data == values[hooks.size() / 2].tensor.data);
  }
}
