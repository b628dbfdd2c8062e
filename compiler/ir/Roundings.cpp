// Roundings of the plain ops' steps, counted from compiler/lowering and runtime/kernels/cpu.
#include "compiler/ir/Roundings.h"
#include "compiler/ir/Shapes.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace vetro::ir {

/// Int8 records: the dots are exact; one term per scale block, of at least 16 values: the scales'
/// product, the term's product, the sum; then minima and records are added. Floats: four chains.
static double productRoundings(Value x, double n) { return recordsOf(x) ? n / 16 + 5 : n / 4 + 4; }

/// Of exp, tanh, erf and log1p those of MLIR's polynomials (UnfusedOpsTest.cpp sweeps them: at most
/// 5 with the interpreter's own).
static double unaryRoundings(StringRef kind) {
  return llvm::StringSwitch<double>(kind)
      .Cases({"relu", "neg"}, 0)
      .Cases({"sqr", "sqrt"}, 1)
      .Default(8);
}

double kernelRoundings(Operation *op, int64_t length) {
  double n = double(length);
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case<AddOp, MulOp, DivOp, ScaleOp>([](auto) { return 1; })
      .Case<MatmulOp, MoeMatmulOp>([&](auto o) { return productRoundings(o.getX(), n); })
      .Case<BmmOp, ReduceOp>([&](auto) { return n + 1; }) // any order
      // The root halves the error of a sum in 16 lanes (n / 16 + 5, its division and eps); then
      // root, reciprocal and product. layer_norm subtracts the mean before.
      .Case<RMSNormOp, LayerNormOp>([&](auto) { return n / 32 + 8; })
      .Case<UnaryOp>([](auto o) { return unaryRoundings(o.getKind()); })
      .Case<SoftmaxOp>([](auto) { return 10; })  // exp 8, its sum in F64, the division
      .Case<RopeTableOp>([](auto) { return 2; }) // cos, magnitude
      .Case<RopeOp>([](auto) { return 4; })      // the table's, product, sum
      .Case<QuantizeOp>([](auto) { return 4; })  // max / 127, 127 / max, two products
      .Default([](Operation *) { return 0; });
}

} // namespace vetro::ir
