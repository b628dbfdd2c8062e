// Cuts ops out of a graph into a program of their own (Program.h).
#pragma once

#include "compiler/ir/Vetro.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace vetro {

class ProgramWriter {
public:
  /// `graph` declares the states that its ops use.
  explicit ProgramWriter(mlir::ModuleOp graph);

  /// Clones an op; operands that nothing was put in the place of become what they were: weights,
  /// states, lists of the batch. Memory and barriers of a plan are left behind.
  mlir::Operation *clone(mlir::Operation *op);
  /// Puts an argument that reads `name` in the place of a value. Int8 records are made of it by a
  /// quantize.
  void addArgument(mlir::Value value, llvm::StringRef name);
  /// Another argument, in nothing's place.
  mlir::Value argument(llvm::StringRef name, mlir::Type type);
  /// What stands for a value of the graph: a weight, a state, a list, or what was put in its place.
  mlir::Value lookup(mlir::Value value);
  /// The list of a batch, `tokens` and the like.
  mlir::Value list(llvm::StringRef name);
  mlir::OpBuilder &builder() { return b; }

  /// Weights that were read.
  llvm::ArrayRef<std::string> weights() const { return weightNames; }
  /// Lists that were read.
  bool reads(llvm::StringRef list) const { return lists.contains(list); }

  /// The module as text. `stage`: "frontend", or "planned" where kernels are chosen.
  std::string finish(mlir::Value result, llvm::StringRef stage);

private:
  mlir::ModuleOp graph;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp func;
  mlir::OpBuilder b;
  mlir::IRMapping mapping;
  llvm::StringMap<mlir::Value> lists;
  std::vector<std::string> weightNames;
};

} // namespace vetro
