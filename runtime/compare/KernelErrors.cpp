// The prompt runs again; every step is proved, part by part.
#include "compiler/ir/Extents.h"
#include "runtime/compare/Isolated.h"

#include <limits>

using namespace mlir;

namespace vetro {
namespace {

constexpr uint64_t maxRecordedBytes = uint64_t(512) << 20;

/// About what recording a step takes for each token.
uint64_t bytesPerToken(Operation *op) {
  uint64_t bytes = 0;
  auto add = [&](Value v) {
    if (auto type = dyn_cast<RankedTensorType>(v.getType()); type && !type.hasStaticShape())
      bytes += ir::elementCount(v).scale * sizeof(float);
  };
  llvm::for_each(op->getOperands(), add);
  llvm::for_each(op->getResults(), add);
  return bytes;
}

/// Ends of the parts of all steps that are recorded in one run each.
std::vector<uint32_t> partsOf(llvm::ArrayRef<Operation *> steps, uint64_t nTokens) {
  std::vector<uint32_t> ends;
  uint64_t used = 0;
  for (auto [i, op] : llvm::enumerate(steps)) {
    uint64_t bytes = bytesPerToken(op) * nTokens;
    if (used > 0 && used + bytes > maxRecordedBytes)
      ends.push_back(uint32_t(i)), used = 0;
    used += bytes;
  }
  ends.push_back(uint32_t(steps.size()));
  return ends;
}

/// Values of this run that `ours` holds otherwise: they did not run here as they stand there.
llvm::Error compareWithFile(llvm::ArrayRef<HookValue> values, const TensorFile &ours,
                            std::vector<Proof> &errors) {
  for (const HookValue &value : values) {
    const NamedTensor &here = value.tensor;
    auto there = ours.read(here.name);
    if (!there)
      return there.takeError();
    // A dump of the last position holds the last row.
    if (there->data.size() > here.data.size())
      return llvm::createStringError(ours.path() + ": " + here.name +
                                     " is larger than it is here: was it made by this model?");
    ref::Tensor ran, again;
    ran.data = std::move(there->data);
    again.data.assign(here.data.end() - ran.data.size(), here.data.end());
    Proof proof = compare(ran, {std::move(again), {}}, {});
    proof.name = here.name, proof.op = "file";
    if (proof.worst > 0)
      errors.push_back(std::move(proof));
  }
  return llvm::Error::success();
}

/// Hooks of the steps [begin, end) that the file holds.
std::vector<Hook> hooksOf(llvm::ArrayRef<Hook> all, const TensorFile &ours, uint32_t begin,
                          uint32_t end) {
  std::vector<Hook> some;
  for (const Hook &hook : all)
    if (hook.step >= begin && hook.step < end && ours.find(hook.name))
      some.push_back(hook);
  return some;
}

} // namespace

llvm::Expected<std::vector<Proof>> kernelErrors(const Model &model, const OpenSession &open,
                                                const TensorFile *ours, llvm::ArrayRef<int32_t> ids,
                                                llvm::StringRef only) {
  auto graph = model.plannedGraph();
  if (!graph)
    return graph.takeError();
  auto hooks = HookRecorder::list(model);
  if (!hooks)
    return hooks.takeError();
  std::vector<BatchToken> batch;
  for (int32_t id : ids)
    batch.push_back({id, 0, true});
  std::vector<Proof> errors, others;
  std::vector<Operation *> steps = stepOps(**graph);
  std::vector<uint32_t> ends = partsOf(steps, ids.size());
  uint32_t begin = 0;
  if (!only.empty()) {
    begin = uint32_t(llvm::find(steps, stepWith(**graph, only)) - steps.begin());
    ends = {begin + 1};
  }
  for (uint32_t end : ends) {
    std::vector<Hook> some = ours ? hooksOf(*hooks, *ours, begin, end) : std::vector<Hook>();
    auto recorder = HookRecorder::ofSteps(model, begin, end, some);
    if (!recorder)
      return recorder.takeError();
    auto session = open(uint32_t(ids.size()));
    if (!session)
      return session.takeError();
    (*session)->observe(recorder->get());
    if (llvm::Error error = (*session)->decode(batch, [](size_t, llvm::ArrayRef<float>) {}))
      return std::move(error);
    auto proofs = (*recorder)->prove(**session);
    if (!proofs)
      return proofs.takeError();
    auto values = (*recorder)->values(**session);
    if (!values)
      return values.takeError();
    llvm::append_range(errors, *proofs);
    if (ours)
      if (llvm::Error error = compareWithFile(*values, *ours, others))
        return std::move(error);
    begin = end;
  }
  llvm::append_range(errors, others);
  return errors;
}

} // namespace vetro
