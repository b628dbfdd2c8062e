// The words in which generated kernels are written.
#pragma once

#include "compiler/ir/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace vetro {

/// Fields of VtBatch that generated code reads.
enum class BatchField {
  NTokens,
  NOutputs,
  NCells,
  MaxPages,
  Tokens,
  Positions,
  Sequences,
  OutputRows,
  Pages,
  CellPositions,
  CellSequences
};

/// Builds one step function `void f(args, begin, end, thread)` and its body.
///
/// Pointers are `!llvm.ptr` to f32 unless said otherwise; offsets are i64 in floats.
class StepBuilder {
public:
  /// Starts the function; `module` also receives declarations of micro-kernels and constants.
  StepBuilder(mlir::ModuleOp module, llvm::StringRef name, mlir::Location loc);
  /// Ends it.
  void finish();

  mlir::OpBuilder &builder() { return b; }
  mlir::Location location() const { return loc; }

  // Numbers.
  mlir::Value i64(int64_t v);
  mlir::Value i32(int64_t v);
  mlir::Value f32(float v);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y); ///< integers: unsigned
  mlir::Value rem(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value toI32(mlir::Value x);
  mlir::Value both(mlir::Value x, mlir::Value y); ///< and

  // The step's arguments.
  mlir::Value begin() { return beginUnit; } ///< i64
  mlir::Value end() { return endUnit; }     ///< i64
  mlir::Value operand(unsigned i);          ///< address of the i-th operand (results follow)
  mlir::Value batch();                      ///< the VtBatch
  mlir::Value batchField(BatchField field); ///< numbers as i64, arrays as pointers
  mlir::Value scratch();                    ///< this thread's scratch

  // Memory.
  mlir::Value at(mlir::Value pointer, mlir::Value floats); ///< pointer + floats * 4
  mlir::Value atBytes(mlir::Value pointer, mlir::Value bytes);
  mlir::Value loadId(mlir::Value pointer, mlir::Value index);    ///< i32 array, as i64
  mlir::Value idAddress(mlir::Value pointer, mlir::Value index); ///< of an i32 array
  mlir::Value load(mlir::Value pointer, mlir::Value floats, int lanes);
  mlir::Value loadScalar(mlir::Value pointer, mlir::Value floats);
  void store(mlir::Value value, mlir::Value pointer, mlir::Value floats);

  // Floats, scalar or vector.
  mlir::Value addF(mlir::Value x, mlir::Value y);
  mlir::Value subF(mlir::Value x, mlir::Value y);
  mlir::Value mulF(mlir::Value x, mlir::Value y);
  mlir::Value divF(mlir::Value x, mlir::Value y);
  mlir::Value maxF(mlir::Value x, mlir::Value y); ///< y < x ? x : y
  /// A scalar in every lane.
  mlir::Value splat(mlir::Value scalar, int lanes);
  mlir::Value splat(float value, int lanes) { return splat(f32(value), lanes); }

  // Control.
  /// for (i = low; i < high; i += step) body(i)
  void loop(mlir::Value low, mlir::Value high, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  /// acc = initial; for (i = low; i < high; i += step) acc = body(i, acc); the last acc
  mlir::Value fold(mlir::Value low, mlir::Value high, int64_t step, mlir::Value initial,
                   llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> body);
  /// if (low < high) body()
  void ifLess(mlir::Value low, mlir::Value high, llvm::function_ref<void()> body);
  /// Covers n elements in vectors of `lanes`; the tail in one shorter vector. body(index, lanes)
  void vectors(int64_t n, int lanes, llvm::function_ref<void(mlir::Value, int)> body);
  /// The same for n known only at run time (i64): the tail one by one.
  void vectors(mlir::Value n, int lanes, llvm::function_ref<void(mlir::Value, int)> body);
  /// Sum over n elements of f(index, lanes), in 16 lanes by index, then by a fixed tree.
  mlir::Value sum(int64_t n, llvm::function_ref<mlir::Value(mlir::Value, int)> f);

  /// Calls `void name(args...)`, declared on first use.
  void call(llvm::StringRef name, mlir::ValueRange args);
  /// Address of a constant array, emitted once per content.
  mlir::Value constantArray(llvm::ArrayRef<float> values);

private:
  mlir::Type ptr();
  mlir::VectorType vec(int lanes);

  mlir::ModuleOp module;
  mlir::Location loc;
  mlir::OpBuilder b;
  mlir::LLVM::LLVMFuncOp func;
  mlir::Value operands, batchPtr, beginUnit, endUnit;
};

} // namespace vetro
