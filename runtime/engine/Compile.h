// The compiler's part of loading: file to graph to plan and object code. MLIR stops here.
#pragma once

#include "compiler/lowering/Lower.h"
#include "frontends/Architecture.h"
#include "runtime/engine/Options.h"
#include "runtime/jit/ObjectCache.h"

#include "mlir/IR/MLIRContext.h"

namespace vetro {

/// A graph in its context.
struct Graph {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  GraphReport report;
  uint32_t nCtxTrain = 0; ///< the model's context length

  mlir::func::FuncOp forward() const;
};

/// The context length that the file's metadata gives; 0 where it gives none.
uint32_t contextLength(const gguf::File &file);

/// Level 1: what the frontend built.
llvm::Expected<Graph> buildModelGraph(const gguf::File &file, const ModelOptions &options);

/// Runs all passes on a graph. `onPass` (may be null) is called after each pass with its flag.
llvm::Error runPasses(Graph &graph, const ModelOptions &options,
                      llvm::function_ref<void(llvm::StringRef, mlir::ModuleOp)> onPass = nullptr);

/// Plan and object code of a planned graph, for options.level.
llvm::Expected<CacheEntry> compileGraph(Graph &graph, const ModelOptions &options);

/// All that decides the code, as text for ObjectCache::key.
std::string cacheDescription(const gguf::File &file, const ModelOptions &options);

} // namespace vetro
