//===- VetroDialect.td - the dialect, its encoding and its state type ----------===//
#ifndef VETRO_DIALECT_TD
#define VETRO_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"

def Vetro_Dialect : Dialect {
  let name = "vetro";
  let cppNamespace = "::vetro::ir";
  let summary = "The language a model is written in while it is compiled.";
  let description = [{
    One op is one line of a paper, on builtin ranked tensors, row-major, last axis contiguous
    (GGUF's dimension list reversed, PyTorch's order). `T` is the number of tokens of a micro-batch
    and `C` the number of KV cells it sees; both are dynamic (`?`), every model dimension is static.

    Weights are symbols (`vetro.weight`) whose tensor type carries the storage format in its
    encoding: `tensor<576x576xf32, #vetro.q<q4_1>>` is a 576x576 matrix of real numbers kept as
    Q4_1 blocks. State (the KV cache) is a symbol too (`vetro.state`).

    The name of a value is the `loc("...")` of the op that defines it: `blk.3.q_rope`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

class Vetro_Attr<string name, string attrMnemonic, list<Trait> traits = []> :
    AttrDef<Vetro_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Vetro_StorageAttr : Vetro_Attr<"Storage", "q",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "how the numbers of a tensor are stored";
  let description = [{
    Encoding of a tensor type: the storage `format` (`q4_1`, `q6_K`, `f16`, ... as in
    runtime/abi/Format.def, or `a8` and `a8x2`: the int8 records of activations, runtime/abi/Kernel.h) and, once
    a kernel is selected, the `layout` in memory (`rows16`: tiles of 16 interleaved rows; empty:
    as in the file). The element type stays the mathematical one, f32. Refused: another element
    type; rows that are no whole number of the format's blocks (32 for the
    int8 records).

    Example: `tensor<1536x576xf32, #vetro.q<q4_1, rows16>>`.
  }];
  let parameters = (ins StringRefParameter<"storage format">:$format,
                        StringRefParameter<"layout in memory">:$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Vetro_StateType : TypeDef<Vetro_Dialect, "State"> {
  let mnemonic = "state";
  let summary = "a handle of per-sequence memory: the keys or the values of one layer";
  let description = [{
    `!vetro.state<3, 64, f16>`: for each position of each sequence, 3 heads of 64 numbers kept as
    f16. The session owns the memory; ops only name it. Refused: no heads, or heads of no numbers;
    2^31 or more numbers a position; another element type than f16 and f32.
  }];
  let parameters = (ins "int64_t":$heads, "int64_t":$headDim, "::mlir::Type":$element);
  let assemblyFormat = "`<` $heads `,` $headDim `,` $element `>`";
  let genVerifyDecl = 1;
}

#endif
