//===- VetroInterfaces.td - what every fused op declares -------------------------===//
#ifndef VETRO_INTERFACES_TD
#define VETRO_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Vetro_FusedOpInterface : OpInterface<"FusedOp"> {
  let cppNamespace = "::vetro::ir";
  let description = [{
    An op that a pass made out of several: it can say again what it replaced. The interpreter
    runs nothing but expansions, so a fused op's meaning is never written twice.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the ops that this op stands for, with their own names as locations, reading `operands`
      in place of this op's operands. Returns one value for each result.
    }], "::llvm::SmallVector<::mlir::Value>", "expand",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands)>,
    InterfaceMethod<[{
      Names of the values inside, in the order in which `expand` makes them.
    }], "::mlir::ArrayAttr", "getInnerNames", (ins)>,
    InterfaceMethod<[{
      The proof bound: how many roundings to F32 one number passes, at most, where this op's kernel
      computes `inner`, one of the ops that `expand` makes, with a sum of `length` terms. By default
      as many as the inner op's own step (compiler/ir/Roundings.h): the kernels share the loops.
      What they come to for each element of a result: compiler/reference/Bounds.h.
    }], "double", "countRoundings",
        (ins "::mlir::Operation *":$inner, "int64_t":$length), "",
        [{ return ::vetro::ir::kernelRoundings(inner, length); }]>,
  ];
}

#endif
