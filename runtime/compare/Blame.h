// From proofs to words: which value is wrong first, what computes it, and what decided that.
#pragma once

#include "runtime/compare/Isolated.h"

#include "llvm/ADT/SetVector.h"
#include <optional>

namespace vetro {

/// What is wrong first.
struct FirstBad {
  std::string name;
  /// "graph"; "pass", what the passes made of the graph (bisect); "kernel"; "accumulated" without a
  /// model.
  std::string kind;
  /// Ops between the named values above it and it, the last one computes it: "rms_norm", "mul"; of
  /// a kernel its step's.
  std::vector<std::string> ops = {};
  std::vector<std::string> weights = {}; ///< that they read
  double ratio = 0;                      ///< to its floor

  // What explain() adds.
  std::string source = {};               ///< line of the frontend: "frontends/arch/llama.cpp:24"
  std::vector<std::string> keys = {};    ///< metadata keys that those ops change with
  std::string step = {};                 ///< the plan's op that computes it or has it inside
  std::vector<std::string> passes = {};  ///< that made this step: "fuse-rope@blk.3.q_rope"
  std::vector<std::string> kernels = {}; ///< micro-kernels of this step
};

/// The proof with the largest ratio for each name.
llvm::StringMap<Proof> worstByName(const std::vector<Proof> &proofs);

/// The names of the graph's values, in order, and the op of each.
std::vector<std::pair<std::string, mlir::Operation *>> namesOf(const Graph &graph);

/// What makes a value out of the values above it that the reference knows.
class Segment {
public:
  Segment(mlir::Operation *op, const llvm::StringMap<Proof> &known);
  std::vector<mlir::Operation *> ops; ///< in order; no reshapes, transposes, weights
  llvm::SetVector<llvm::StringRef> weights;
  llvm::SetVector<mlir::Operation *> whole; ///< with reshapes, and stores of what is loaded
  llvm::SetVector<mlir::Value> above;       ///< the known values that they read

  std::vector<std::string> opNames() const;
  std::vector<std::string> weightNames() const { return {weights.begin(), weights.end()}; }
  /// Ops, attributes and types as text, without names of values.
  std::string text() const;

private:
  void add(mlir::Operation *op);
  void addOperand(mlir::Value v);

  const llvm::StringMap<Proof> &known;
  llvm::StringRef name;
};

/// The earliest value with a ratio above 1; of both kinds at one name the graph is told, because a
/// wrong graph makes right kernels look wrong to nobody, but not the other way round. `kind`: what
/// a wrong graph is called.
std::optional<FirstBad> findFirst(const Graph &graph, const llvm::StringMap<Proof> &graphWorst,
                                  const llvm::StringMap<Proof> &kernelWorst,
                                  llvm::StringRef kind = "graph");

/// The passes that made the step around a value, as items of --disable, in order.
llvm::Expected<std::vector<std::string>> passesBehind(const Model &model, llvm::StringRef name);

/// Adds what only a look into file, frontend and plan tells: see FirstBad. `known`: names that the
/// reference has.
llvm::Error explain(FirstBad &first, const Model &model, const llvm::StringMap<Proof> &known);

} // namespace vetro
