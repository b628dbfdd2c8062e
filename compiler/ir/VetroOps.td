//===- VetroOps.td - the ops a frontend writes (level 1) ------------------------===//
#ifndef VETRO_OPS_TD
#define VETRO_OPS_TD

include "compiler/ir/VetroDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===- Named operand constraints: their summaries are the docs' operand tables ---===//

// No constraint lets through a tensor without axes, with an empty axis, or with more than 2^40
// numbers: later stages divide by extents and multiply them with the lengths of a batch.
def Vetro_Extents : And<[IsRankedTensorTypePred, CPred<"::vetro::ir::hasUsableExtents($_self)">]>;

def Vetro_F32 : Type<And<[Vetro_Extents,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getElementType().isF32()">]>,
    "tensor of f32, no axis empty">;
def Vetro_Ids : Type<And<[Vetro_Extents,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getElementType().isInteger(32)">,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() == 1">]>,
    "list of i32, one per row">;
def Vetro_Weight : Type<And<[Vetro_Extents,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getElementType().isF32()">,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).hasStaticShape()">]>,
    "weight: static shape, any storage format">;
def Vetro_AnyState : Type<CPred<"::llvm::isa<::vetro::ir::StateType>($_self)">, "state handle">;

class Vetro_Op<string mnemonic, list<Trait> traits = []> : Op<Vetro_Dialect, mnemonic, traits>;

// An op whose value depends on its operands only.
class Vetro_PureOp<string mnemonic, list<Trait> traits = []> :
    Vetro_Op<mnemonic, !listconcat([Pure], traits)> {
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

//===- Symbols ------------------------------------------------------------------===//

def Vetro_WeightOp : Vetro_Op<"weight", [Symbol]> {
  let summary = "declares a weight of the file";
  let description = [{
    The symbol is the tensor's name in the GGUF file; its bytes stay there. Shape: the file's
    dimensions reversed. Refused: a type that is no tensor of f32 of static shape.

    ```mlir
    vetro.weight @"blk.0.attn_q.weight" : tensor<576x576xf32, #vetro.q<q4_1>>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type);
  let hasVerifier = 1;
  let assemblyFormat = "$sym_name attr-dict `:` $type";
}

def Vetro_StateOp : Vetro_Op<"state", [Symbol]> {
  let summary = "declares per-sequence memory of one layer";
  let description = [{
    `kind` is `k` or `v`: it fixes the order in memory (runtime/abi/KvPage.h). Refused: another kind; a type
    that is no state.

    ```mlir
    vetro.state @"blk.0.k_cache" "k" : !vetro.state<3, 64, f16>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$kind, TypeAttr:$type);
  let hasVerifier = 1;
  let assemblyFormat = "$sym_name $kind attr-dict `:` $type";
}

def Vetro_GetWeightOp : Vetro_Op<"get_weight",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a weight";
  let description = [{
    The weight as a value: its type is the symbol's. Refused: another type, or a symbol that is
    missing or no weight.

    ```mlir
    vetro.weight @"output_norm.weight" : tensor<576xf32>
    %w = vetro.get_weight @"output_norm.weight" : tensor<576xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs Vetro_Weight:$result);
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

def Vetro_GetStateOp : Vetro_Op<"get_state",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the handle of a state";
  let description = [{
    What kv_store writes and kv_load and attention read. Refused: a type other than the symbol's, or
    a symbol that is missing or no state.

    ```mlir
    vetro.state @"blk.0.k_cache" "k" : !vetro.state<3, 64, f16>
    %k = vetro.get_state @"blk.0.k_cache" : !vetro.state<3, 64, f16>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$state);
  let results = (outs Vetro_AnyState:$result);
  let assemblyFormat = "$state attr-dict `:` type($result)";
}

//===- Core (group G0) -----------------------------------------------------------===//

def Vetro_GatherRowsOp : Vetro_PureOp<"gather_rows"> {
  let summary = "rows of a table by index";
  let description = [{
    `y[t] = table[ids[t]]`. Table `[V, D]` (may be quantised) or `[T, D]`, ids `[n]`, result
    `[n, D]`. Serves the token embedding, learned positions and the selection of output rows.
    Refused: a table that is not a matrix; a result width other than `D`.

    ```mlir
    %y = vetro.gather_rows %table, %ids : (tensor<8x4xf32>, tensor<?xi32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$table, Vetro_Ids:$ids);
  let results = (outs Vetro_F32:$result);
}

def Vetro_MatmulOp : Vetro_PureOp<"matmul"> {
  let summary = "product with a weight matrix";
  let description = [{
    `y[t, n] = sum_k x[t, k] * w[n, k]`, that is `x @ w.T`. x `[T, K]`, w `[N, K]` in any storage
    format, result `[T, N]`. x may be int8 records (`#vetro.q<a8>`, `#vetro.q<a8x2>`): then each
    32-block is an exact integer dot product times both scales. Refused: `K` that differs; other ranks.

    ```mlir
    %y = vetro.matmul %x, %w : (tensor<?x64xf32>, tensor<32x64xf32, #vetro.q<q8_0>>) -> tensor<?x32xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, Vetro_F32:$w);
  let results = (outs Vetro_F32:$result);
}

def Vetro_BmmOp : Vetro_PureOp<"bmm"> {
  let summary = "batched product of two activations";
  let description = [{
    `y[g, m, n] = sum_k a[g, m, k] * b[g / r, n, k]` with `r = G / G'`: a `[G, M, K]`,
    b `[G', N, K]`, result `[G, M, N]`, `G` a multiple of `G'`: grouped heads share a KV head by
    index arithmetic. Where a mask `[M, K]` is -inf, the term is left out, whatever a and b hold.
    Refused: `K` that differs; `G` that is no multiple of `G'`; a mask of another shape.

    ```mlir
    %y = vetro.bmm %a, %b : (tensor<4x?x8xf32>, tensor<2x?x8xf32>) -> tensor<4x?x?xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$a, Vetro_F32:$b, Optional<Vetro_F32>:$mask);
  let results = (outs Vetro_F32:$result);
}

class Vetro_BinaryOp<string mnemonic, string sym> : Vetro_PureOp<mnemonic> {
  let description = "`y = a " # sym # " b`, element by element; axes are aligned at the right and "
    "an axis of length 1 (or missing in b) is repeated. The result has the shape of a.\n"
    "Refused: an axis of b that is neither 1 nor that of a.\n\n```mlir\n%y = vetro." # mnemonic #
    " %a, %b : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>\n```";
  let arguments = (ins Vetro_F32:$a, Vetro_F32:$b);
  let results = (outs Vetro_F32:$result);
}
def Vetro_AddOp : Vetro_BinaryOp<"add", "+"> { let summary = "sum"; }
def Vetro_MulOp : Vetro_BinaryOp<"mul", "*"> { let summary = "product, element by element"; }

def Vetro_ScaleOp : Vetro_PureOp<"scale"> {
  let summary = "times a constant";
  let description = [{
    `y = s * x`. Any shape.

    ```mlir
    %y = vetro.scale %x {s = 0.125 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, F32Attr:$s);
  let results = (outs Vetro_F32:$result);
}

def Vetro_RMSNormOp : Vetro_PureOp<"rms_norm"> {
  let summary = "root mean square normalisation, without weight";
  let description = [{
    `y = x / sqrt(mean(x^2) + eps)` over the last axis. x `[..., D]`, result the same.
    The weight is a separate `vetro.mul`. Refused: eps outside (0, 1e-2].
    Source: Zhang and Sennrich 2019, "Root Mean Square Layer Normalization", eq. 4.

    ```mlir
    %y = vetro.rms_norm %x {eps = 1.0e-5 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, F32Attr:$eps);
  let results = (outs Vetro_F32:$result);
}

def Vetro_RopeOp : Vetro_PureOp<"rope"> {
  let summary = "rotary position embedding";
  let description = [{
    Rotates pairs of the first `n_dims` dimensions of each head by `angle = pos * freq[i] /
    factors[i]`, `freq[i] = base^(-2i / n_dims)`: `(a, b) -> (a cos - b sin, a sin + b cos)`, cos and
    sin times the magnitude of YaRN. x `[T, H, d]`, positions `[T]`, factors `[n_dims / 2]`
    (optional), result as x.
    `mode`: `norm` pairs neighbours (2i, 2i+1), `neox` pairs halves (i, i + n_dims/2).
    `freq_scale` is 1 / factor of linear and YaRN scaling; `ext_factor` 1 mixes by YaRN's ramp
    between `beta_fast` and `beta_slow` rotations over `n_ctx_orig` positions.
    Refused: n_dims odd or over d; base not finite and positive.
    Source: Su et al. 2021, "RoFormer"; Peng et al. 2023, "YaRN".

    ```mlir
    %y = vetro.rope %x, %pos {mode = "norm", n_dims = 4 : i64, base = 1.0e4 : f32}
      : (tensor<?x2x4xf32>, tensor<?xi32>) -> tensor<?x2x4xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, Vetro_Ids:$positions, Optional<Vetro_F32>:$factors,
    StrAttr:$mode, I64Attr:$n_dims, F32Attr:$base,
    DefaultValuedAttr<F32Attr, "1.0f">:$freq_scale, DefaultValuedAttr<F32Attr, "0.0f">:$ext_factor,
    DefaultValuedAttr<F32Attr, "1.0f">:$attn_factor,
    DefaultValuedAttr<F32Attr, "32.0f">:$beta_fast, DefaultValuedAttr<F32Attr, "1.0f">:$beta_slow,
    DefaultValuedAttr<I64Attr, "0">:$n_ctx_orig);
  let results = (outs Vetro_F32:$result);
}

def Vetro_UnaryOp : Vetro_PureOp<"unary"> {
  let summary = "an activation function";
  let description = [{
    `y = f(x)` element by element, f one of `silu` (x / (1 + exp(-x))), `gelu` (tanh form),
    `gelu_erf`, `gelu_quick` (x * sigmoid(1.702 x)), `relu`, `sqr`, `sqrt`, `sigmoid`, `tanh`,
    `softplus`, `exp`, `neg`. Refused: another name.

    ```mlir
    %y = vetro.unary %x {kind = "silu"} : (tensor<?x4xf32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, StrAttr:$kind);
  let results = (outs Vetro_F32:$result);
}

def Vetro_SoftmaxOp : Vetro_PureOp<"softmax"> {
  let summary = "softmax over the last axis";
  let description = [{
    `y = exp(x - max x) / sum exp(x - max x)`. x `[..., M, N]`, mask `[M, N]` (optional), result as
    x. Elements that are -inf, or whose mask is -inf whatever they hold, give exactly 0 and enter
    neither the maximum nor the sum. Refused: a mask that is not as the last two axes of x.

    ```mlir
    %y = vetro.softmax %x, %mask : (tensor<2x?x?xf32>, tensor<?x?xf32>) -> tensor<2x?x?xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, Optional<Vetro_F32>:$mask);
  let results = (outs Vetro_F32:$result);
}

def Vetro_AttnMaskOp : Vetro_PureOp<"attn_mask"> {
  let summary = "which KV cells a token may see";
  let description = [{
    `y[t, c] = 0` where the cell belongs to the token's sequence, `cell_pos <= pos`, and (window
    > 0) `cell_pos > pos - window`; `-inf` elsewhere. The softmax of the scores and the sum over the
    values take it, so that nothing in a cell that a token does not see, be it NaN, reaches the
    token. positions, sequences `[T]`, cell_positions,
    cell_sequences `[C]`, result `[T, C]`. A window of 512 lets a token see itself and the 511
    before it. Refused: a negative window.

    ```mlir
    %y = vetro.attn_mask %pos, %seq, %cpos, %cseq {window = 512 : i64}
      : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins Vetro_Ids:$positions, Vetro_Ids:$sequences, Vetro_Ids:$cell_positions,
    Vetro_Ids:$cell_sequences, DefaultValuedAttr<I64Attr, "0">:$window);
  let results = (outs Vetro_F32:$result);
}

def Vetro_KvStoreOp : Vetro_Op<"kv_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes the keys or values of the batch's tokens";
  let description = [{
    `state[slots[t]] = round(x[t])` to the state's element type. x `[T, heads, head_dim]`.
    No result: program order in the block is the order of effects.

    ```mlir
    vetro.kv_store %state, %x, %slots : (!vetro.state<2, 4, f16>, tensor<?x2x4xf32>, tensor<?xi32>) -> ()
    ```
  }];
  let arguments = (ins Vetro_AnyState:$state, Vetro_F32:$x, Vetro_Ids:$slots);
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Vetro_KvLoadOp : Vetro_Op<"kv_load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads keys or values as stored";
  let description = [{
    `y[c] = state[cells[c]]`. cells `[C]`, result `[C, heads, head_dim]`.

    ```mlir
    %y = vetro.kv_load %state, %cells : (!vetro.state<2, 4, f16>, tensor<?xi32>) -> tensor<?x2x4xf32>
    ```
  }];
  let arguments = (ins Vetro_AnyState:$state, Vetro_Ids:$cells);
  let results = (outs Vetro_F32:$result);
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Vetro_ReshapeOp : Vetro_PureOp<"reshape"> {
  let summary = "the same numbers under another shape";
  let description = [{
    Row-major order is kept. At most one dynamic axis on each side. Refused: a product of static
    dimensions that differs.

    ```mlir
    %y = vetro.reshape %x : (tensor<?x8xf32>) -> tensor<?x2x4xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x);
  let results = (outs Vetro_F32:$result);
}

def Vetro_TransposeOp : Vetro_PureOp<"transpose"> {
  let summary = "permutes axes";
  let description = [{
    `y.shape[i] = x.shape[perm[i]]`. Refused: a list that is no permutation.

    ```mlir
    %y = vetro.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x2x4xf32>) -> tensor<2x?x4xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, DenseI64ArrayAttr:$perm);
  let results = (outs Vetro_F32:$result);
}

def Vetro_SliceOp : Vetro_PureOp<"slice"> {
  let summary = "a range of one axis";
  let description = [{
    `y[..., i, ...] = x[..., begin + i, ...]`, the axis becoming `len` long. Refused: a range
    outside the axis.

    ```mlir
    %y = vetro.slice %x {axis = 1 : i64, begin = 4 : i64, len = 4 : i64} : (tensor<?x8xf32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, I64Attr:$axis, I64Attr:$begin, I64Attr:$len);
  let results = (outs Vetro_F32:$result);
}

def Vetro_BroadcastOp : Vetro_PureOp<"broadcast"> {
  let summary = "repeats axes of length 1";
  let description = [{
    Axes are aligned at the right; an axis of x of length 1 (or missing) is repeated to the
    result's. Refused: another axis that differs.

    ```mlir
    %y = vetro.broadcast %x : (tensor<1x4xf32>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x);
  let results = (outs Vetro_F32:$result);
}

def Vetro_ConcatOp : Vetro_PureOp<"concat"> {
  let summary = "joins two tensors along one axis";
  let description = [{
    The rows of a, then those of b along `axis`; all other axes are equal.

    ```mlir
    %y = vetro.concat %a, %b {axis = 1 : i64} : (tensor<?x4xf32>, tensor<?x2xf32>) -> tensor<?x6xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$a, Vetro_F32:$b, I64Attr:$axis);
  let results = (outs Vetro_F32:$result);
}

def Vetro_QuantizeOp : Vetro_PureOp<"quantize"> {
  let summary = "the int8 records of an activation";
  let description = [{
    Per 32 values of the last axis: `d = max|x| / 127`, `q = round-half-even(x / d)`, both kept
    (runtime/abi/Kernel.h, "a8"). x `[..., K]`, `K` a multiple of 32; the result has the encoding
    `#vetro.q<a8>` and stands for `q * d`; or `#vetro.q<a8x2>`: a second such record of what the
    first leaves, `x - q * d`, is added. Made by select-kernels, never by a frontend.

    ```mlir
    %y = vetro.quantize %x : (tensor<?x64xf32>) -> tensor<?x64xf32, #vetro.q<a8>>
    ```
  }];
  let arguments = (ins Vetro_F32:$x);
  let results = (outs Vetro_F32:$result);
}

#endif
