// Values of a run under their names, fusion on. Looking changes nothing: what a step wrote is
// copied between steps (`ran`); what a fused step swallowed is recomputed afterwards by the
// interpreter from the step's own inputs (`recomputed`), and the step's result is proved against
// it.
//
// With attention left unfused, steps also write values over cells, such as attn_probs [H, T, C].
// Their rows cannot be put together from micro-batches, since each saw another number of cells.
// They are recomputed as well, from the values by token and the cache that they came from.
#pragma once

#include "runtime/engine/Proof.h"
#include "runtime/engine/Reference.h"
#include "runtime/engine/Session.h"
#include "runtime/trace/Safetensors.h"

#include "llvm/ADT/BitVector.h"

namespace vetro {

/// One name that can be asked for.
struct Hook {
  std::string name; ///< "blk.3.q_rope"
  uint32_t step;    ///< the step that computes it, or inside which it lies
  bool ran;         ///< materialised by the step, or swallowed by it
  bool byOutput;    ///< has a row for each token that wants logits, not for each token
};

/// A value, tokens (or cells) first.
struct HookValue {
  NamedTensor tensor;
  std::string label; ///< "ran", "recomputed", "reference"
};

/// Records the inputs and results of the steps behind some hooks.
class HookRecorder : public StepObserver {
public:
  /// All names that a model offers, in the order of its steps.
  static llvm::Expected<std::vector<Hook>> list(const Model &model);
  /// Records what `wanted` names need: of values that ran nothing else. `model` must outlive the
  /// recorder.
  static llvm::Expected<std::unique_ptr<HookRecorder>> create(const Model &model,
                                                              llvm::ArrayRef<Hook> wanted) {
    return ofSteps(model, 0, 0, wanted);
  }
  /// Records all steps, also those that no name leads to, so that prove() leaves none out.
  static llvm::Expected<std::unique_ptr<HookRecorder>> ofAllSteps(const Model &model) {
    return ofSteps(model, 0, UINT32_MAX);
  }
  /// Records the steps [begin, end) and what recomputing them needs, and what `wanted` names need.
  static llvm::Expected<std::unique_ptr<HookRecorder>>
  ofSteps(const Model &model, uint32_t begin, uint32_t end, llvm::ArrayRef<Hook> wanted = {});

  /// Forgets what was recorded: for another run.
  void restart();
  bool wants(uint32_t step) override { return needed[step]; }
  void after(uint32_t step, PlanRunner &runner) override;

  /// Changes results of steps that are recomputed, as an editor changed them while they ran; may be
  /// empty.
  std::function<void(mlir::Operation *, unsigned result, ref::Tensor &)> onRecomputed;

  /// The wanted values, from all micro-batches since creation or restart(), given away: to be asked
  /// for once. `session` ran them. Errors: what the interpreter refuses; std::errc::interrupted
  /// after Ctrl-C.
  llvm::Expected<std::vector<HookValue>> values(const Session &session);
  /// The ops that computing a step again takes, in order: those before it whose results cannot be
  /// recorded, and its own.
  std::vector<mlir::Operation *> region(uint32_t step) const;
  /// What was recorded of operand i of op, records as the numbers they stand for; null where op is
  /// no step (a reshape), never ran, or i is a weight, a state or a list of cells.
  const ref::Tensor *operand(mlir::Operation *op, unsigned i) const;
  /// Every result of every step that was recorded with its inputs, and what steps store, against
  /// its recomputation, under the value's name (of an unnamed one, that of what it reads). Values
  /// inside a step are covered by its result. The session has not rewound since.
  llvm::Expected<std::vector<Proof>> prove(const Session &session);

private:
  /// What recording needs to know of a step's operand or result; asked of the IR once.
  struct Layout {
    bool byRow = false; ///< rows of micro-batches, one after the other, make it up
    bool byOutput = false, isIds = false;
    uint64_t perRow = 0; ///< numbers of a row
    uint64_t width = 0;  ///< numbers of its last axis
    uint32_t records = 0;
    ref::Shape shape = {};
    explicit Layout(mlir::Value v);
  };
  struct Recorded {
    std::vector<Layout> layouts;       ///< empty: the step is not recorded
    bool selects = false;              ///< its first operand's rows are chosen by the second
    std::vector<ref::Tensor> operands; ///< operands, then results, rows of all micro-batches
    /// Of those that are int8 records: what one code of each value's (last) record is worth.
    std::vector<std::vector<float>> codeSize;
  };
  explicit HookRecorder(const Model &model) : model(model) {}
  /// With bounds where there is no `onValue` to hand inner values to.
  using OnValue = std::function<void(mlir::Operation *, unsigned, const ref::Tensor &)>;
  llvm::Expected<std::vector<ref::Bounded>> recompute(uint32_t step, const Session &session,
                                                      OnValue onValue);
  void prepare(uint32_t step);
  HookValue takeRan(const Hook &hook);
  /// All values inside a step, recomputed.
  llvm::Expected<llvm::StringMap<HookValue>> insideOf(uint32_t step, const Session &session);
  Proof proveStored(uint32_t step, const KvCache &cache, ref::Bounded stored) const;

  const Model &model;
  std::vector<mlir::Operation *> steps; ///< the graph's op of each step
  llvm::DenseMap<mlir::Operation *, uint32_t> stepOf;
  std::vector<Hook> wanted;
  std::vector<std::vector<size_t>> wantedOf; ///< per step, indices of those it computes
  llvm::BitVector needed;                    ///< steps that are recorded
  llvm::BitVector whole;          ///< those of them whose inputs are, too: to be computed again
  std::vector<Recorded> recorded; ///< per step
};

/// All steps' ops of a planned graph, in the plan's order.
std::vector<mlir::Operation *> stepOps(const Graph &graph);

/// The name of one of a step's results; empty for an unnamed one.
llvm::StringRef resultName(mlir::Operation *op, unsigned result);
/// The step of a graph that computes a value or has it inside; null: none.
mlir::Operation *stepWith(const Graph &graph, llvm::StringRef name);
/// A result's type under the shape that its name has in the graph: heads are split by a reshape.
mlir::RankedTensorType namedType(mlir::Value result, llvm::StringRef name);
/// Whether an op's results have a row for each token that wants logits.
bool isByOutput(mlir::Operation *op);
/// Whether the graph keeps this value's heads before its tokens: attn_scores, attn_probs.
bool isHeadsFirst(llvm::StringRef name);
/// A value as it is dumped: attn_scores and attn_probs [H, T, C] become [T, H, C].
NamedTensor dumpLayout(llvm::StringRef name, ref::Tensor tensor);

} // namespace vetro
