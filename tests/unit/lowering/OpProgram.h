// A few ops as a program: compiled like a model's plan, and run beside the interpreter.
#pragma once

#include "compiler/reference/Interpreter.h"
#include "runtime/engine/CompiledProgram.h"

#include "mlir/IR/MLIRContext.h"
#include <map>
#include <memory>

namespace vetro::test {

/// One token: which sequence it extends.
struct ProgramToken {
  int32_t sequence = 0;
  bool output = false;
};

/// `func @forward` with the eight id inputs of a graph, then inputs of its own. Sequences grow from
/// run to run, like a session's.
class OpProgram {
public:
  static constexpr uint32_t nSequences = 3, nCtx = 640;

  /// `arguments`: further arguments, "%x: tensor<?x4xf32>" each; a dynamic first axis counts cells
  /// where the name starts with "cell", output rows where it is "outputs", else tokens. `body`: ops
  /// that end with `return %y : TYPE`; `symbols`: states. Throws what the compiler refuses.
  OpProgram(const std::vector<std::string> &arguments, const std::string &body,
            const std::string &result, const std::string &symbols = "",
            const std::string &level = "");
  ~OpProgram();

  /// Appends the tokens to their sequences and runs, each step in `pieces` ranges; the other inputs
  /// hold seeded numbers that depend on the token (sequence, position) or cell, not on the batch.
  struct Result {
    ref::Tensor ours, reference;
  };
  Result run(const std::vector<ProgramToken> &tokens, unsigned pieces = 1);
  /// Forgets all sequences.
  void clear();

  /// From now on the inputs of this sequence's tokens and cells at positions >= `from` are `value`.
  struct Poison {
    int32_t sequence = -1, from = 0;
    float value = 0;
  };
  Poison poison;

private:
  struct State;
  bool isPoisoned(int32_t slot) const;
  std::vector<ref::Tensor> inputs(const std::vector<ProgramToken> &tokens);

  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  CompiledProgram program;
  KvCache cache;
  std::unique_ptr<State> state;
};

/// Mean square difference over mean square of `reference`; infinite where shapes differ or where
/// one is -inf or NaN and the other is not.
double nmse(const ref::Tensor &ours, const ref::Tensor &reference);

/// n tokens of sequence 0.
std::vector<ProgramToken> tokensOf(int n, int32_t sequence = 0);

} // namespace vetro::test
