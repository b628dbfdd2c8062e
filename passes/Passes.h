// The passes, and the pipeline that the engine runs.
#pragma once

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

namespace vetro {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

/// Which passes of the pipeline run.
enum class PipelinePart {
  All,
  Fuse, ///< those that change what an op is: up to select-kernels
  Plan, ///< what a module whose kernels are chosen still needs: plan-memory, schedule
};

struct PipelineOptions {
  /// "fuse-qkv" or "fuse-qkv@blk.3": a pass that is off everywhere, or at one site.
  std::vector<std::string> disable;
  /// "REGEX=a8x2": activation formats of the matmuls whose names match (select-kernels).
  std::vector<std::string> activations;
  bool explain = false;
  PipelinePart part = PipelinePart::All;
};

/// Adds all passes in order. Error: a name in `disable` that no pass has.
llvm::Error addPipeline(mlir::PassManager &manager, const PipelineOptions &options);

/// Flags of all passes in pipeline order, without the prefix: "fuse-rms-norm".
std::vector<llvm::StringRef> passNames();

} // namespace vetro
