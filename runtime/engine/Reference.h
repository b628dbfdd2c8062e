// The interpreter as an evaluator: `--reference`, and the arbiter of every other path.
#pragma once

#include "compiler/reference/Interpreter.h"
#include "runtime/engine/Compile.h"
#include "runtime/engine/Evaluator.h"
#include "runtime/engine/Vocabulary.h"
#include "runtime/sched/ThreadPool.h"

namespace vetro {

/// Dequantises rows of the file as they are read.
class FileWeights : public ref::WeightSource {
public:
  explicit FileWeights(const gguf::File &file) : file(file) {}
  void readRow(llvm::StringRef name, int64_t row, float *out) const override;

private:
  const gguf::File &file; ///< must outlive this
};

/// Keeps each state as floats [slots][heads * headDim], rounded to the state's element type.
class FloatState : public ref::StateStore {
public:
  FloatState(mlir::ModuleOp module, uint32_t slots);
  void store(llvm::StringRef state, int32_t slot, const float *x, int64_t n) override;
  void load(llvm::StringRef state, int32_t slot, float *out, int64_t n) const override;

private:
  struct Item {
    bool half;
    std::vector<float> data;
  };
  llvm::StringMap<Item> items;
};

/// Runs the frontend's graph, no pass applied: weights dequantised, activations in f32.
class Reference : public Evaluator {
public:
  /// Error: whatever the file or the architecture refuses.
  static llvm::Expected<std::unique_ptr<Reference>> create(const ModelOptions &model,
                                                           const SessionOptions &session);

  llvm::Error decode(llvm::ArrayRef<BatchToken> batch,
                     llvm::function_ref<void(size_t, llvm::ArrayRef<float>)> onLogits) override;
  uint32_t nCtx() const override { return context; }
  uint32_t length(uint32_t sequence) const override { return lengths[sequence]; }
  void truncate(uint32_t sequence, uint32_t n) override {
    lengths[sequence] = std::min(lengths[sequence], n);
  }

  const Tokenizer &tokenizer() const { return *vocab; }
  const Graph &graph() const { return built; }
  /// Sums in double, and a watcher of values; see InterpreterOptions.
  ref::InterpreterOptions interpreterOptions;

private:
  Reference() = default;
  std::vector<ref::Tensor> inputs(llvm::ArrayRef<BatchToken> batch);

  std::shared_ptr<gguf::File> file;
  std::unique_ptr<Tokenizer> vocab;
  std::unique_ptr<ThreadPool> pool;
  Graph built;
  std::unique_ptr<FileWeights> weights;
  std::unique_ptr<FloatState> state;
  std::vector<uint32_t> lengths;
  uint32_t context = 0;
};

} // namespace vetro
