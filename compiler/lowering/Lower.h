// A planned module to code and plan.
#pragma once

#include "runtime/abi/Plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace vetro {

struct Lowered {
  std::unique_ptr<llvm::Module> code; ///< step functions; calls micro-kernels by name
  Plan plan;
  std::string text; ///< the step functions as MLIR (level 4), if asked for
};

struct LowerOptions {
  bool keepText = false;
};

/// Lowers a module that went through all passes. `context` owns the code. Error: an op that has no
/// emitter yet (named, with the pass that would have fused it).
llvm::Expected<Lowered> lower(mlir::ModuleOp module, llvm::LLVMContext &context,
                              const LowerOptions &options = {});

/// Registers `--vetro-emit-steps`: replaces a planned module by its step functions (level 4), as
/// lower() makes them.
void registerLoweringPasses();

} // namespace vetro
