// Faults to plant into a model, and the run of a comparison with them.
#pragma once

#include "runtime/compare/Bisect.h"
#include "runtime/compare/Diff.h"
#include "tests/unit/engine/EngineTest.h"

namespace vetro::test {

/// Changes the frontend's graph of a model.
using GraphFault = std::function<void(mlir::func::FuncOp)>;

/// What diff and bisect say of one run.
struct Verdicts {
  std::optional<FirstBad> diff;
  BisectReport bisect;
};

/// Of a model whose frontend's graph has a fault: ours is its dump, the reference the sound one's,
/// both by the interpreter. With `pass` (a flag) the fault stands in what that pass makes.
Verdicts findGraphFault(const std::string &path, llvm::ArrayRef<int32_t> ids,
                        const GraphFault &fault);
BisectReport findPassFault(const std::string &path, llvm::ArrayRef<int32_t> ids,
                           const std::string &pass, const GraphFault &fault);

/// A fault of a kernel: changes what the step wrote, `width` floats a token; `before` is what stood
/// there before it ran.
using Spoil = void (*)(llvm::MutableArrayRef<float> result, llvm::ArrayRef<float> before,
                       uint64_t width);

/// Where the step that computes `value` is spoiled (null: none); ours is what ran.
Verdicts findKernelFault(const std::string &path, llvm::ArrayRef<int32_t> ids,
                         const std::string &value, Spoil spoil);

/// The op of this kind that computes `name`, or that lies before it without a name.
template <typename OpT> OpT opOf(mlir::func::FuncOp forward, const std::string &name) {
  OpT last;
  for (mlir::Operation &op : forward.front()) {
    if (auto found = mlir::dyn_cast<OpT>(op))
      last = found;
    if (ir::nameOf(&op) == name && last)
      return last;
  }
  return nullptr;
}

} // namespace vetro::test
