// The interpreter as an evaluator: `--reference`, and the arbiter of every other path.
#pragma once

#include "compiler/reference/Interpreter.h"
#include "runtime/engine/Compile.h"
#include "runtime/engine/Evaluator.h"
#include "runtime/engine/RoundedModel.h"
#include "runtime/engine/Vocabulary.h"
#include "runtime/memory/Region.h"
#include "runtime/sched/ThreadPool.h"

#include <atomic>

namespace vetro {

/// Rows of the file's weights as F32. A row that is read a second time is kept, so that one pass
/// over a prompt costs no memory and the tokens after it no dequantising. The weights that come
/// first in the file are kept, as many as `keepBytes` hold; the others are dequantised at each use.
class FileWeights : public ref::WeightSource {
public:
  /// Both real models fit: SmolLM2 135M takes 0.5 GiB, Gemma 3 270M 1.0 GiB.
  static constexpr uint64_t defaultKeepBytes = uint64_t(3) << 29; // 1.5 GiB

  explicit FileWeights(const gguf::File &file, uint64_t keepBytes = defaultKeepBytes);
  /// Any number of threads may call it at once.
  void readRow(llvm::StringRef name, int64_t row, float *out) const override;
  /// How many rows are kept now.
  uint64_t keptRows() const { return nKept.load(std::memory_order_relaxed); }

private:
  enum class RowState : uint8_t { Unread, ReadOnce, Filling, Kept };
  struct Item {
    const gguf::TensorInfo *info = nullptr;
    float *rows = nullptr;                          ///< in `kept`; null: never kept
    std::unique_ptr<std::atomic<RowState>[]> state; ///< of each row
  };
  void keep(const Item &item, int64_t row, const float *values) const;

  const gguf::File &file; ///< must outlive this
  Region kept;
  mutable std::atomic<uint64_t> nKept{0};
  llvm::StringMap<Item> items;
};

/// Keeps each state as floats [slots][heads * headDim], rounded to the state's element type. Slots
/// take memory from the first store on.
class FloatState : public ref::StateStore {
public:
  explicit FloatState(mlir::ModuleOp module);
  void store(llvm::StringRef state, int32_t slot, const float *x, int64_t n) override;
  void load(llvm::StringRef state, int32_t slot, float *out, int64_t n) const override;

private:
  struct Item {
    bool half;
    std::vector<float> data;
  };
  llvm::StringMap<Item> items;
};

/// Runs the frontend's graph, no pass applied (or fused): weights dequantised, activations in f32.
class Reference : public Evaluator {
public:
  /// Error: whatever the file or the architecture refuses.
  static llvm::Expected<std::unique_ptr<Reference>>
  create(const ModelOptions &model, const SessionOptions &session, Stage stage = Stage::Frontend);

  llvm::Error decode(llvm::ArrayRef<BatchToken> batch,
                     llvm::function_ref<void(size_t, llvm::ArrayRef<float>)> onLogits) override;
  uint32_t nCtx() const override { return context; }
  uint32_t length(uint32_t sequence) const override { return lengths[sequence]; }
  void truncate(uint32_t sequence, uint32_t n) override {
    lengths[sequence] = std::min(lengths[sequence], n);
  }

  const Tokenizer &tokenizer() const { return *vocab; }
  const Graph &graph() const { return built; }
  /// The graph's inputs in the batch that runs or ran last, in the order of planInputs.
  llvm::ArrayRef<ref::Tensor> inputsOfBatch() const { return current; }
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
  std::unique_ptr<RoundedModel> rounded; ///< where the options ask for it
  std::unique_ptr<FloatState> state;
  std::vector<uint32_t> lengths;
  std::vector<ref::Tensor> current;
  uint32_t context = 0;
};

} // namespace vetro
