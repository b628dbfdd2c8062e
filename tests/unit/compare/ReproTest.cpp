// Ops cut out of a model compute alone what they computed there.
#include "runtime/compare/Repro.h"
#include "compiler/ir/Names.h"
#include "runtime/engine/Program.h"
#include "runtime/jit/Compile.h"
#include "tests/unit/engine/EngineTest.h"
#include "tests/unit/gguf/TinyGguf.h"
#include "tests/unit/tiny/TinyFile.h"

#include <set>

using namespace vetro;
using namespace vetro::test;

namespace {

/// Every function of the model's plan, at the first step that calls it.
void expectStepsAlone(const ModelOptions &options) {
  auto model = must(Model::load(options));
  std::vector<int32_t> ids = randomIds(11, 400, 3);
  SessionOptions o;
  o.nUbatch = o.nOutputs = 5; // three micro-batches
  auto hooks = must(HookRecorder::list(*model));
  std::set<std::string> functions;
  for (const PlanValue &value : model->plan().values) {
    const PlanStep &step = model->plan().steps[value.step];
    if (value.name.empty() || !functions.insert(step.function).second)
      continue;
    INFO(value.name << " by " << step.op);
    auto session = must(Session::create(model, o));
    Repro repro = must(reproOfStep(*model, value.name, *session, ids));
    TempDir dir;
    must(writeRepro(repro, dir.file("repro")));
    auto program = must(Program::open(dir.file("repro/region.mlir")));
    CHECK(program->resultNames() == std::vector<std::string>{value.name});
    must(program->bind(*must(TensorFile::open(dir.file("repro/tensors.safetensors")))));
    auto exact = must(program->interpret());
    Proof proof = compare(must(program->run(bestLevel())), exact[0], {});
    CHECK(proof.worst <= 1);
    CHECK(proof.values > 0);
    if (value.format != "f32")
      continue;
    // What it gave in the model, to the bits or, where activations were rounded, nearly.
    auto again = must(Session::create(model, o));
    auto recorder = must(HookRecorder::ofSteps(*model, value.step, value.step + 1));
    again->observe(recorder.get());
    std::vector<BatchToken> batch;
    for (int32_t id : ids)
      batch.push_back({id, 0, true});
    must(again->decode(batch, [](size_t, llvm::ArrayRef<float>) {}));
    auto op = stepOps(*must(model->plannedGraph()))[value.step];
    if (const ref::Tensor *there = recorder->operand(op, value.operand))
      CHECK(compare(*there, exact[0], {}).nmse < 1e-6);
  }
  CHECK(functions.size() > 5);
}

ModelOptions optionsOf(const std::string &path) {
  ModelOptions options;
  options.path = path, options.nThreads = 1, options.pin = false;
  options.cacheDir = buildDir() + "/plans";
  return options;
}

} // namespace

TEST_CASE("a step of a plan runs alone", "[repro]") {
  SECTION("grouped heads, quantised") {
    TinyFile file({.arch = "llama", .type = "Q4_0", .layers = 1});
    expectStepsAlone(optionsOf(file.path()));
  }
  SECTION("windows, norms of heads, f32 state") {
    TinyFile file({.arch = "gemma3", .type = "Q4_K", .layers = 1});
    ModelOptions options = optionsOf(file.path());
    options.kvType = "f32";
    expectStepsAlone(options);
  }
  SECTION("attention left unfused") {
    TinyFile file({.arch = "llama", .type = "F32", .layers = 1});
    ModelOptions options = optionsOf(file.path());
    options.disable = {"fuse-attention"};
    expectStepsAlone(options);
  }
  SECTION("a mixture of experts") {
    TinyFile file({.arch = "llama",
                   .type = "Q4_0",
                   .layers = 1,
                   .overrides = {"llama.expert_count=u32:4", "llama.expert_used_count=u32:2"}});
    expectStepsAlone(optionsOf(file.path()));
  }
}

// ---- programs ----

namespace {
std::unique_ptr<TensorFile> valuesOf(const std::vector<NamedTensor> &tensors) {
  TempDir dir;
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  writeSafetensors(out, tensors, {});
  writeFile(dir.file("t"), bytes);
  return must(TensorFile::open(dir.file("t")));
}

std::string errorOf(const std::string &text, const std::vector<NamedTensor> &tensors = {}) {
  auto program = Program::parse(text, "p.mlir");
  if (!program)
    return llvm::toString(program.takeError());
  return llvm::toString((*program)->bind(*valuesOf(tensors)));
}

/// y = x * 2 of rows of 2.
const char *const doubled = R"(func.func @f(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %y = vetro.scale %x {s = 2.0 : f32} : (tensor<?x2xf32>) -> tensor<?x2xf32> loc("y")
  return %y : tensor<?x2xf32>
})";
} // namespace

TEST_CASE("a function written by hand runs", "[program]") {
  auto program = must(Program::parse(doubled, "p.mlir"));
  CHECK(program->inputNames() == std::vector<std::string>{"arg0"});
  must(program->bind(*valuesOf({{"arg0", {3, 2}, {1, 2, 3, 4, 5, 6}}})));
  std::vector<float> wanted = {2, 4, 6, 8, 10, 12};
  CHECK(must(program->interpret())[0].value.data == wanted);
  for (llvm::StringRef level : levelsBelow(bestLevel()))
    CHECK(must(program->run(level)).data == wanted);
  CHECK(must(program->run(bestLevel())).data == wanted);
}

TEST_CASE("what a program cannot run is said in one line", "[program]") {
  CHECK(errorOf("func.func @f(") == "p.mlir:1:13: expected non-function type");
  CHECK(errorOf("") == "p.mlir: expected one function of one block");
  CHECK(errorOf("func.func @f(%x: i64) -> i64 { return %x : i64 }") ==
        "p.mlir: argument arg0 is i64, expected a tensor of f32 or i32");
  CHECK(errorOf("func.func @f() { return }") == "p.mlir: the function returns nothing");
  CHECK(llvm::StringRef(errorOf(doubled)).ends_with("has no tensor \"arg0\""));
  CHECK(llvm::StringRef(errorOf(doubled, {{"arg0", {3, 4}, std::vector<float>(12)}}))
            .ends_with("arg0 is [3, 4], the program wants tensor<?x2xf32>"));
  std::string two = R"(func.func @f(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
    %z = vetro.add %x, %y : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
    return %z : tensor<?x2xf32>
  })";
  CHECK(errorOf(two, {{"arg0", {1, 2}, {1, 2}}, {"arg1", {2, 2}, {1, 2, 3, 4}}}) ==
        "p.mlir: arg1 has 2 rows, arg0 has 1");
  // Lists of a batch are lists of ids, and stay inside it: kernels trust them.
  auto with = [](const std::string &arguments) {
    return "func.func @f(%x: tensor<?x2xf32>, " + arguments +
           ") -> tensor<?x2xf32> { return %x : "
           "tensor<?x2xf32> }";
  };
  CHECK(errorOf(with("%s: tensor<?x2xf32> {vetro.input = \"slots\"}")) ==
        "p.mlir: argument slots is tensor<?x2xf32>, expected tensor<?xi32>, a list of the batch");
  for (const char *list :
       {"sequences", "slots", "outputs", "cells", "cell_positions", "cell_sequences"})
    CHECK(errorOf(with(std::string("%s: tensor<?xi32> {vetro.input = \"") + list + "\"}"),
                  {{"arg0", {2, 2}, {1, 2, 3, 4}}, {list, {2}, {0, 2}}}) ==
          std::string("p.mlir: ") + list + " holds 2, the batch has one sequence of 2 tokens");
}
