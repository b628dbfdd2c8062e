// One walk over the frontend's graph that begins anew at each name.
#include "compiler/ir/Names.h"
#include "runtime/compare/Choices.h"
#include "runtime/compare/Isolated.h"
#include "runtime/engine/RunOptions.h"
#include "runtime/trace/Align.h"

#include <cmath>

using namespace mlir;

namespace vetro {
namespace {

class GraphWalk {
public:
  GraphWalk(func::FuncOp forward, const TensorFile &reference, const ReferenceType &type,
            size_t nTokens, const std::function<bool(llvm::StringRef)> &wanted)
      : reference(reference), type(type), leastEnergy(energyFloor(type, nTokens)), wanted(wanted) {
    OwningOpRef<func::FuncOp> expanded = forward.clone();
    ref::expandFusedOps(*expanded);
    for (Operation &op : expanded->front())
      if (!isa<ir::GetWeightOp, ir::GetStateOp>(op))
        named[ir::nameOf(&op)]++; // heads: a product, and its reshape of the same name
  }

  void onResult(Operation *op, ref::Bounded &result) {
    if (failed)
      return;
    if (auto load = dyn_cast<ir::KvLoadOp>(op))
      result.bound = stored[symbolOf(load.getState())];
    addAngleFloor(op, positions, result);
    addStorageFloor(op, type, result);
    llvm::StringRef name = ir::nameOf(op);
    if (--named[name] == 0 && reference.find(name) && (!wanted || wanted(name)))
      compareWith(op, name, result);
    for (Operation *user : op->getResult(0).getUsers()) {
      if (isa<ir::TopKOp>(user))
        scores = result;
      if (auto store = dyn_cast<ir::KvStoreOp>(user))
        stored[symbolOf(store.getState())] = result.bound;
    }
  }

  std::vector<int32_t> positions;
  std::vector<Proof> errors;
  llvm::Error failed = llvm::Error::success();

private:
  static llvm::StringRef symbolOf(Value state) {
    auto get = state.getDefiningOp<ir::GetStateOp>();
    return get ? get.getState() : llvm::StringRef();
  }

  /// Notes how far apart they are; the reference's value goes on.
  void compareWith(Operation *op, llvm::StringRef name, ref::Bounded &result) {
    auto read = readForGraph(reference, name, result.value.shape, !result.value.ids.empty());
    if (!read) {
      failed = read.takeError();
      return;
    }
    ref::Tensor &tensor = *read;
    uint64_t ties = isa<ir::TopKOp>(op) ? settleTies(scores, tensor, result.value) : 0;
    Proof proof = compare(tensor, result, {});
    proof.ties = ties;
    proof.worst = std::max(proof.worst, std::sqrt(proof.nmse / leastEnergy));
    proof.name = name.str(), proof.op = op->getName().stripDialect().str();
    errors.push_back(std::move(proof));
    ref::Tensor bound = readingFloor(tensor, type);
    result = {std::move(tensor), std::move(bound)};
  }

  const TensorFile &reference;
  const ReferenceType &type;
  double leastEnergy;
  const std::function<bool(llvm::StringRef)> &wanted;
  llvm::StringMap<int> named;          ///< ops of a name that are still to come
  llvm::StringMap<ref::Tensor> stored; ///< bounds of what a state holds
  ref::Bounded scores;                 ///< that the next choice is made from
};

} // namespace

llvm::Expected<ref::Tensor> readForGraph(const TensorFile &reference, StringRef name,
                                         const ref::Shape &shape, bool isChoice) {
  std::vector<std::string> transforms;
  auto theirs =
      readReference(reference, name, dumpLayout(name, ref::Tensor(shape)).shape, transforms);
  if (!theirs)
    return theirs.takeError();
  if (isHeadsFirst(name))
    if (llvm::Error error = applyTransform("heads_second", {}, *theirs))
      return std::move(error);
  ref::Tensor tensor(shape);
  tensor.data = std::move(theirs->data);
  for (float choice : isChoice ? ArrayRef(tensor.data) : ArrayRef<float>()) {
    if (choice != std::floor(choice) || std::fabs(choice) > 0x1p24f)
      return llvm::createStringError(reference.path() + ": " + name + ": holds " +
                                     std::to_string(choice) +
                                     ", expected whole numbers, the places that were chosen");
    tensor.ids.push_back(int32_t(choice));
  }
  return tensor;
}

llvm::Expected<const ReferenceType *> referenceTypeOf(const TensorFile &reference) {
  llvm::StringRef dtype = reference.metadata("dtype");
  const ReferenceType *type = findReferenceType(dtype.empty() ? "float32" : dtype);
  if (!type)
    return llvm::createStringError(reference.path() + ": its metadata 'dtype' is '" + dtype +
                                   "', expected float64, float32, float16 or bfloat16");
  return type;
}

llvm::Expected<std::string> kvTypeOf(const TensorFile &reference) {
  ModelOptions told;
  told.kvType = "f32";
  if (llvm::Error error = takeRunOptions(reference, told))
    return std::move(error);
  return told.kvType;
}

bool ranOnKernels(const TensorFile &file) {
  return llvm::any_of(file.allMetadata(), [](const auto &pair) {
    return llvm::StringRef(pair.first).starts_with("label:") && pair.second != "reference";
  });
}

llvm::Expected<std::vector<Proof>> graphErrors(Reference &interpreter, const TensorFile &reference,
                                               llvm::ArrayRef<int32_t> ids,
                                               const ReferenceType &type,
                                               const std::function<bool(llvm::StringRef)> &wanted) {
  GraphWalk walk(interpreter.graph().forward(), reference, type, ids.size(), wanted);
  std::vector<BatchToken> batch;
  for (auto [i, id] : llvm::enumerate(ids)) {
    batch.push_back({id, 0, true});
    walk.positions.push_back(int32_t(i));
  }
  ref::InterpreterOptions &o = interpreter.interpreterOptions;
  o.bounds = true;
  o.countRoundings = [&](Operation *op, int64_t length) {
    return referenceRoundings(op, length, type);
  };
  o.onResult = [&](Operation *op, unsigned, ref::Bounded &result) { walk.onResult(op, result); };
  llvm::Error ran = interpreter.decode(batch, [](size_t, llvm::ArrayRef<float>) {});
  if (walk.failed)
    return llvm::joinErrors(std::move(walk.failed), std::move(ran));
  if (ran)
    return std::move(ran);
  return std::move(walk.errors);
}

} // namespace vetro
