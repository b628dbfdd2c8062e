// scf, vector, arith, math to LLVM IR.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace vetro {

/// Lowers step functions to LLVM IR; exp, tanh and their like become polynomials.
llvm::Expected<std::unique_ptr<llvm::Module>> toLLVM(mlir::ModuleOp module,
                                                     llvm::LLVMContext &context);

} // namespace vetro
