// A function of Vetro's IR run alone, on values by name: by the machine code that is compiled for
// it, and by the interpreter. What `vetro eval` runs: a graph written by hand, or the few ops that
// `vetro bisect` cut out of a model.
//
// func.func @f(%a: tensor<?x4xf32> {vetro.input = "a"}, %w: tensor<3x4xf32>) -> tensor<?x3xf32>
//
// An argument reads the value that its `vetro.input` names, without one "arg0", "arg1", ... The
// lists of a batch (planInputs, each tensor<?xi32>) need no value: one sequence that begins now, as
// many tokens as the other arguments have rows. A weight reads the value of its symbol's name:
// numbers, or for a quantised one the file's bytes. All states are empty before.
#pragma once

#include "compiler/ir/Extents.h"
#include "runtime/engine/CompiledProgram.h"
#include "runtime/engine/Reference.h"
#include "runtime/trace/TensorFile.h"

namespace vetro {

class Program {
public:
  /// Reads MLIR text; of a module marked vetro.stage = "planned" kernels are chosen already.
  /// Error: one line with path, line and column; not exactly one function; arguments and results
  /// that are no tensors.
  static llvm::Expected<std::unique_ptr<Program>> parse(llvm::StringRef text, llvm::StringRef path);
  static llvm::Expected<std::unique_ptr<Program>> open(llvm::StringRef path);

  /// The values that must be given, in order: inputs, then weights.
  std::vector<std::string> inputNames() const;
  /// Of each result its value's name, without one "result0", ...
  std::vector<std::string> resultNames() const;

  /// Takes what the program reads. Errors: a name that `values` lacks, a shape that does not fit,
  /// ids out of range, lists that lead out of the batch.
  llvm::Error bind(const TensorFile &values);

  /// All results, by the interpreter, with bounds for what machine code may differ by. After
  /// bind(). Error: what the interpreter refuses.
  llvm::Expected<std::vector<ref::Bounded>> interpret();
  /// The result of a function that has one, by machine code. After bind(). Errors: what the passes
  /// or lowering refuse, several results.
  llvm::Expected<ref::Tensor> run(llvm::StringRef level);

  /// As it was read, for drawings.
  mlir::func::FuncOp function() const;

private:
  Program() = default;
  llvm::Error prepare();
  llvm::Error bindInput(unsigned argument, const TensorFile &values);
  llvm::Error bindWeight(ir::WeightOp weight, const TensorFile &values);
  llvm::Error count(ir::Axis axis, int64_t n, llvm::StringRef name);
  void fillLists();
  llvm::Error checkLists();
  llvm::Expected<ref::Tensor> compileAndRun(mlir::ModuleOp module, llvm::StringRef level);

  std::string path;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<ref::Tensor> inputs;                             ///< one for each argument
  llvm::StringMap<std::vector<uint8_t>> weights;               ///< bytes as in a file
  std::map<ir::Axis, std::pair<int64_t, std::string>> counted; ///< and which value told
};

} // namespace vetro
