// The compiler's part of loading: file to graph to plan and object code. MLIR stops here.
#pragma once

#include "compiler/lowering/Lower.h"
#include "frontends/Architecture.h"
#include "runtime/engine/Options.h"
#include "runtime/jit/ObjectCache.h"

#include "mlir/IR/MLIRContext.h"
#include <functional>

namespace vetro {

/// A graph in its context.
struct Graph {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  GraphReport report;
  uint32_t nCtxTrain = 0; ///< the model's context length

  mlir::func::FuncOp forward() const;
};

/// The architecture that a file of a known one names. Aborts for another: buildModelGraph() was
/// asked before.
const Architecture &architectureOf(const gguf::File &file);
/// The context length that the file's metadata gives; 0 where it gives none.
uint32_t contextLength(const gguf::File &file);
/// Positions that sessions of a plan may hold: any number, but for files whose rope factors depend
/// on it (longrope); for those what `options` asks for, at most what the model was trained on.
uint32_t plannedContext(const gguf::File &file, const ModelOptions &options);

/// How far a graph has come.
enum class Stage {
  Frontend, ///< as the papers have it
  Fused,    ///< all passes that change what an op is; weights and activations as in the file
  Planned,  ///< kernels, memory and barriers chosen: as it runs
};

/// Level 1: what the frontend built. `onImport` may change the module before the frontend reads it.
llvm::Expected<Graph> buildModelGraph(const gguf::File &file, const ModelOptions &options,
                                      llvm::function_ref<void(mlir::ModuleOp)> onImport = nullptr);
/// That, and the passes up to the stage. Errors as runPasses().
llvm::Expected<Graph> buildGraphAt(const gguf::File &file, const ModelOptions &options,
                                   Stage stage);

/// What a pass says about a site: that it fired, or why it did not.
struct PassRemark {
  std::string site; ///< name of the value; empty for a value without a name
  std::string text; ///< "3 matmuls -> qkv_matmul", "the weights want different ..."
  bool fired = false;
  std::string source = {};                ///< line of the pass: "passes/FuseRope.cpp:88"
  std::vector<std::string> replaced = {}; ///< names of the values that it fused
};

/// Watches passes at work. Each member may be empty; each is given the flag of the pass. With
/// `remark` the passes explain themselves; none of the three changes what they do.
struct PassObserver {
  std::function<void(llvm::StringRef, mlir::ModuleOp)> before, after;
  std::function<void(llvm::StringRef, PassRemark)> remark;
};

/// Runs the passes on a graph, all of them or up to a stage. Errors: a name in options.disable that
/// no pass has, a graph that a pass refuses.
llvm::Error runPasses(Graph &graph, const ModelOptions &options, const PassObserver &observer = {},
                      Stage stage = Stage::Planned);

/// Plan and object code of a planned graph, for options.level.
llvm::Expected<CacheEntry> compileGraph(Graph &graph, const ModelOptions &options);

/// All that decides the code, as text for ObjectCache::key.
std::string cacheDescription(const gguf::File &file, const ModelOptions &options);

} // namespace vetro
