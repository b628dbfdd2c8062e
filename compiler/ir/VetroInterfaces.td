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
  ];
}

#endif
