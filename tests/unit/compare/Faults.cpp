// The run of a comparison with a planted fault.
#include "tests/unit/compare/Faults.h"
#include "compiler/ir/Names.h"
#include "runtime/engine/Hooks.h"
#include "tests/unit/gguf/TinyGguf.h"

namespace vetro::test {
namespace {

std::vector<BatchToken> batchOf(llvm::ArrayRef<int32_t> ids) {
  std::vector<BatchToken> batch;
  for (int32_t id : ids)
    batch.push_back({id, 0, true});
  return batch;
}

std::unique_ptr<TensorFile> written(const std::vector<HookValue> &values,
                                    llvm::ArrayRef<int32_t> ids) {
  TempDir dir;
  std::vector<NamedTensor> tensors;
  std::vector<std::pair<std::string, std::string>> metadata(1);
  for (int32_t id : ids)
    metadata[0].second += (metadata[0].second.empty() ? "" : ",") + std::to_string(id);
  metadata[0].first = "ids";
  for (const HookValue &value : values) {
    tensors.push_back(value.tensor);
    metadata.push_back({"label:" + value.tensor.name, value.label});
  }
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  writeSafetensors(out, tensors, metadata);
  writeFile(dir.file("t"), bytes);
  return must(TensorFile::open(dir.file("t")));
}

/// Every named value, as the interpreter computes it.
std::unique_ptr<TensorFile> interpreted(Reference &interpreter, llvm::ArrayRef<int32_t> ids) {
  std::vector<HookValue> values;
  llvm::StringMap<size_t> at;
  interpreter.interpreterOptions.onValue = [&](mlir::Operation *op, unsigned,
                                               const ref::Tensor &t) {
    auto [it, fresh] = at.try_emplace(ir::nameOf(op), values.size());
    if (fresh)
      values.emplace_back();
    values[it->second] = {dumpLayout(ir::nameOf(op), t), "reference"};
  };
  must(interpreter.decode(batchOf(ids), [](size_t, llvm::ArrayRef<float>) {}));
  return written(values, ids);
}

ModelOptions optionsOf(const std::string &path) {
  ModelOptions options;
  options.path = path, options.nThreads = 1, options.pin = false;
  options.cacheDir = buildDir() + "/plans";
  return options;
}

// A step is a plain function: what the fault needs to know stands here.
struct {
  VtStep original;
  Spoil spoil;
  uint32_t operand;
  uint64_t width;
} planted;

void faultyStep(const VtArgs *args, uint32_t begin, uint32_t end, uint32_t thread) {
  llvm::MutableArrayRef<float> result(static_cast<float *>(args->operands[planted.operand]),
                                      args->batch->nTokens * planted.width);
  std::vector<float> before(result.begin(), result.end());
  planted.original(args, begin, end, thread);
  planted.spoil(result, before, planted.width);
}

/// Spoils the step that writes `value` in a session.
void plant(Session &session, const std::string &value, Spoil spoil) {
  auto &values = session.model().plan().values;
  auto found = llvm::find_if(values, [&](const PlanValue &v) { return v.name == value; });
  REQUIRE(found != values.end());
  REQUIRE(found->format == "f32");
  planted = {session.runner().replaceStep(found->step, faultyStep), spoil, found->operand,
             found->width};
}

/// Everything that ran in the session that `open` gives.
std::unique_ptr<TensorFile> ran(const Model &model, const OpenSession &open,
                                llvm::ArrayRef<int32_t> ids) {
  auto recorder = must(HookRecorder::create(model, must(HookRecorder::list(model))));
  auto session = must(open(uint32_t(ids.size())));
  session->observe(recorder.get());
  must(session->decode(batchOf(ids), [](size_t, llvm::ArrayRef<float>) {}));
  return written(must(recorder->values(*session)), ids);
}

} // namespace

Verdicts findGraphFault(const std::string &path, llvm::ArrayRef<int32_t> ids,
                        const GraphFault &fault) {
  std::shared_ptr<const TensorFile> sound = interpreted(*reference(path), ids);
  ModelOptions options = optionsOf(path);
  options.level = "scalar"; // compiles the quickest
  options.changeGraph = [&](llvm::StringRef pass, Graph &graph) {
    if (pass.empty())
      fault(graph.forward());
  };
  auto ours = interpreted(*must(Reference::create(options, {})), ids);
  Subject subject = must(Subject::load(options, {}));
  return {must(diff(*ours, *sound, {}, subject)).first,
          must(bisect(sound, {options, {}, {}, true}))};
}

BisectReport findPassFault(const std::string &path, llvm::ArrayRef<int32_t> ids,
                           const std::string &flag, const GraphFault &fault) {
  std::shared_ptr<const TensorFile> sound = interpreted(*reference(path), ids);
  ModelOptions options = optionsOf(path);
  options.level = "scalar"; // compiles the quickest
  options.changeGraph = [&](llvm::StringRef pass, Graph &graph) {
    if (pass == flag)
      fault(graph.forward());
  };
  return must(bisect(sound, {options, {}, {}, true}));
}

Verdicts findKernelFault(const std::string &path, llvm::ArrayRef<int32_t> ids,
                         const std::string &value, Spoil spoil) {
  Subject subject = must(Subject::load(optionsOf(path), {}));
  auto onSession = [&](Session &session) {
    if (spoil)
      plant(session, value, spoil);
  };
  subject.open = [&, model = subject.model](uint32_t nTokens) {
    SessionOptions o;
    o.nUbatch = o.nOutputs = nTokens;
    auto session = Session::create(model, o);
    if (session)
      onSession(**session);
    return session;
  };
  std::shared_ptr<const TensorFile> sound = interpreted(*reference(path), ids);
  auto ours = ran(*subject.model, subject.open, ids);
  BisectOptions options;
  options.model = optionsOf(path), options.onSession = onSession, options.repro = true;
  return {must(diff(*ours, *sound, {}, subject)).first, must(bisect(sound, options))};
}

} // namespace vetro::test
