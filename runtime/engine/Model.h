// A loaded model: file, tokenizer, plan, code, weights. Immutable, shared by sessions.
#pragma once

#include "runtime/abi/Plan.h"
#include "runtime/engine/Options.h"
#include "runtime/engine/Vocabulary.h"
#include "runtime/jit/Code.h"
#include "runtime/memory/Weights.h"
#include "runtime/sched/ThreadPool.h"

#include <mutex>

namespace vetro {

struct Graph; // Compile.h

class Model {
public:
  ~Model();

  /// Opens, compiles (or finds the plan in the cache), repacks the weights. Errors: whatever the
  /// file, the architecture or the system refuses; std::errc::interrupted after Ctrl-C.
  static llvm::Expected<std::shared_ptr<Model>> load(ModelOptions options);

  const ModelOptions &options() const { return opts; }
  const gguf::File &file() const { return *gguf; }
  const Tokenizer &tokenizer() const { return *vocab; }
  const Plan &plan() const { return compiled; }
  const Code &code() const { return *machineCode; }
  const Weights &weights() const { return packed; }
  ThreadPool &pool() const { return *threads; }
  uint32_t trainContext() const { return nCtxTrain; }
  /// Whether the plan came from the cache.
  bool fromCache() const { return cached; }

  /// The planned graph, whose steps are the plan's, in order; built on first use.
  llvm::Expected<const Graph *> plannedGraph() const;

private:
  Model();
  llvm::Error compile();
  llvm::Error packWeights();
  llvm::Error packUnits(size_t weight, const gguf::TensorInfo &tensor, uint64_t begin,
                        uint64_t end);

  ModelOptions opts;
  std::shared_ptr<gguf::File> gguf;
  std::unique_ptr<Tokenizer> vocab;
  std::unique_ptr<ThreadPool> threads;
  Plan compiled;
  std::unique_ptr<Code> machineCode;
  Weights packed;
  uint32_t nCtxTrain = 0;
  bool cached = false;
  mutable std::mutex graphMutex;
  mutable std::unique_ptr<Graph> graph;
};

} // namespace vetro
