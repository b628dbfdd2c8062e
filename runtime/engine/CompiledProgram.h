// A planned function and its machine code, run alone: no file, no model, no session.
#pragma once

#include "compiler/reference/Tensor.h"
#include "runtime/abi/Plan.h"
#include "runtime/jit/Code.h"
#include "runtime/memory/KvCache.h"
#include "runtime/memory/Weights.h"

#include "mlir/IR/BuiltinOps.h"

namespace vetro {

class CompiledProgram {
public:
  /// The bytes of a whole weight as a file stores it.
  using ReadWeight =
      std::function<llvm::Expected<llvm::ArrayRef<uint8_t>>(const PlanWeight &weight)>;

  /// Compiles `func @forward` of a module that went through all passes, for an instruction set
  /// level. Errors: what lowering or `weightBytes` refuses.
  static llvm::Expected<CompiledProgram> create(mlir::ModuleOp module, llvm::StringRef level,
                                                const ReadWeight &weightBytes = {});

  const Plan &plan() const { return planned; }

  /// What the function returns (of records the numbers that they stand for). `inputs`: one for each
  /// argument, the eight of planInputs first. `cache` has the positions already. Each step runs in
  /// `pieces` ranges of units, one after the other; before, all buffers hold NaN.
  llvm::Expected<ref::Tensor> run(llvm::ArrayRef<ref::Tensor> inputs, KvCache &cache,
                                  unsigned pieces = 1) const;

private:
  const void *address(const PlanOperand &operand, llvm::ArrayRef<ref::Tensor> inputs,
                      const KvCache &cache, std::vector<std::vector<uint8_t>> &buffers) const;

  Plan planned;
  std::unique_ptr<Code> code;
  Weights weights;
  mlir::Value returned; ///< by the module's function
};

/// `shape` with the dynamic axes of `value` counted: tokens, outputs, cells.
ref::Shape shapeOfBatch(mlir::Value value, int64_t nTokens, int64_t nOutputs, int64_t nCells);

} // namespace vetro
