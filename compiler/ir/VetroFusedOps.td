//===- VetroFusedOps.td - the ops that passes make (level 2) ---------------------===//
#ifndef VETRO_FUSED_OPS_TD
#define VETRO_FUSED_OPS_TD

include "compiler/ir/VetroInterfaces.td"
include "compiler/ir/VetroMoeOps.td"
include "compiler/ir/VetroOps.td"
include "mlir/IR/OpAsmInterface.td"

// A fused op: `names` are the names of the values inside, in the order `expand` makes them.
class Vetro_FusedOpBase<string mnemonic, list<Trait> traits = []> : Vetro_Op<mnemonic,
    !listconcat([DeclareOpInterfaceMethods<Vetro_FusedOpInterface, ["expand"]>], traits)> {
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDefinition = [{
    ::mlir::ArrayAttr $cppClass::getInnerNames() { return getNamesAttr(); }
  }];
}

def Vetro_RMSNormMulOp : Vetro_FusedOpBase<"rms_norm_mul", [Pure]> {
  let summary = "normalise and weigh";
  let description = [{
    `y = rms_norm(x) * w`. x `[..., D]`, w `[D]`, result as x, as f32 or as int8 records.
    Inside: the weighted norm. Replaces rms_norm, mul (and quantize).
    Bound: `(D/16 + 23) u |y|`, u = 2^-24; of records see vetro.quantize.

    ```mlir
    %y = vetro.rms_norm_mul %x, %w {eps = 1.0e-5 : f32, names = ["n"]} : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, Vetro_F32:$w, F32Attr:$eps, StrArrayAttr:$names);
  let results = (outs Vetro_F32:$result);
}

def Vetro_RMSNormMulAddOp : Vetro_FusedOpBase<"rms_norm_mul_add", [Pure]> {
  let summary = "normalise, weigh and add to the residual stream";
  let description = [{
    `y = residual + rms_norm(x) * w`, the post-norm of Gemma. x, residual and result `[T, D]`, w
    `[D]`. Inside: the weighted norm. Bound: `(D/16 + 23) u |norm| + 2 u |y|`, u = 2^-24.

    ```mlir
    %y = vetro.rms_norm_mul_add %x, %w, %r {eps = 1.0e-6 : f32, names = ["n"]} : (tensor<?x32xf32>, tensor<32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, Vetro_F32:$w, Vetro_F32:$residual, F32Attr:$eps,
                       StrArrayAttr:$names);
  let results = (outs Vetro_F32:$result);
}

def Vetro_HeadNormOp : Vetro_FusedOpBase<"head_norm", [Pure]> {
  let summary = "the final norm, on the rows that are wanted";
  let description = [{
    `y[i] = rms_norm(x[rows[i]]) * w`. x `[T, D]`, rows `[n]`, w `[D]`, result `[n, D]`, as f32 or
    as int8 records. Inside: the weighted norm. Bound: as vetro.rms_norm_mul.

    ```mlir
    %y = vetro.head_norm %x, %rows, %w {eps = 1.0e-5 : f32, names = ["final_norm"]} : (tensor<?x32xf32>, tensor<?xi32>, tensor<32xf32>) -> tensor<?x32xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, Vetro_Ids:$rows, Vetro_F32:$w, F32Attr:$eps,
                       StrArrayAttr:$names);
  let results = (outs Vetro_F32:$result);
}

def Vetro_QkvMatmulOp : Vetro_FusedOpBase<"qkv_matmul",
    [Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "query, key and value in one pass over x";
  let description = [{
    Three matmuls that read the same x: `q = x @ wq.T`, `k = x @ wk.T`, `v = x @ wv.T`.
    x `[T, K]`. Inside: nothing besides the results. Bound: `r u sum|x*w|`, u = 2^-24,
    r = K/8 + 24 for x as int8 records (27 as a8x2, 3 sum|x*w|), 5K/16 + 22 as f32; a weight w of a
    format with minima counts as |scale * code| + |minimum|.

    ```mlir
    %q, %k, %v = vetro.qkv_matmul %x, %wq, %wk, %wv {names = ["q", "k", "v"]} : (tensor<?x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>)
    ```
  }];
  let arguments = (ins Vetro_F32:$x, Vetro_F32:$wq, Vetro_F32:$wk, Vetro_F32:$wv,
                       StrArrayAttr:$names);
  let results = (outs Vetro_F32:$q, Vetro_F32:$k, Vetro_F32:$v);
}

def Vetro_MatmulAddOp : Vetro_FusedOpBase<"matmul_add", [Pure]> {
  let summary = "matmul and residual add";
  let description = [{
    `y = residual + x @ w.T`. x `[T, K]`, w `[N, K]`, residual and result `[T, N]`. Inside: the
    product. Bound: the product's as in vetro.qkv_matmul, and `2 u |y|`.

    ```mlir
    %y = vetro.matmul_add %x, %w, %r {names = ["o"]} : (tensor<?x32xf32>, tensor<16x32xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, Vetro_F32:$w, Vetro_F32:$residual, StrArrayAttr:$names);
  let results = (outs Vetro_F32:$result);
}

def Vetro_GluOp : Vetro_FusedOpBase<"glu", [Pure]> {
  let summary = "gated linear unit";
  let description = [{
    `y = f(x @ w_gate.T) * (x @ w_up.T)`, f = `kind` as in vetro.unary. x `[T, K]`, weights
    `[F, K]`, result `[T, F]`, as f32 or as int8 records. Inside: gate, up, activation, product.
    Bound: with E the bound of gate or up as in vetro.qkv_matmul, L the largest slope of f (1.13),
    `|up| (L E(gate) + 14 u |f|) + |f| E(up) + E E + 2 u |y|`; gelu counts `14 u |gate|`.
    Source: Shazeer 2020, "GLU Variants Improve Transformer".

    ```mlir
    %y = vetro.glu %x, %wg, %wu {kind = "silu", names = ["gate", "up", "", "act"]} : (tensor<?x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, Vetro_F32:$gate, Vetro_F32:$up, StrAttr:$kind,
                       StrArrayAttr:$names);
  let results = (outs Vetro_F32:$result);
}

def Vetro_RopeTableOp : Vetro_PureOp<"rope_table"> {
  let summary = "cosines and sines of the batch's positions";
  let description = [{
    `y[t, i] = (cos, sin)(pos[t] * freq[i] / factors[i])`, times YaRN's magnitude; result
    `[T, n_dims / 2, 2]`. Computed once per micro-batch and shared by all layers that rotate
    alike. Attributes as in vetro.rope.

    ```mlir
    %y = vetro.rope_table %pos {n_dims = 4 : i64, base = 1.0e4 : f32} : (tensor<?xi32>) -> tensor<?x2x2xf32>
    ```
  }];
  let arguments = (ins Vetro_Ids:$positions, Optional<Vetro_F32>:$factors, I64Attr:$n_dims,
    F32Attr:$base, DefaultValuedAttr<F32Attr, "1.0f">:$freq_scale,
    DefaultValuedAttr<F32Attr, "0.0f">:$ext_factor, DefaultValuedAttr<F32Attr, "1.0f">:$attn_factor,
    DefaultValuedAttr<F32Attr, "32.0f">:$beta_fast, DefaultValuedAttr<F32Attr, "1.0f">:$beta_slow,
    DefaultValuedAttr<I64Attr, "0">:$n_ctx_orig);
  let results = (outs Vetro_F32:$result);
}

def Vetro_NormRopeOp : Vetro_FusedOpBase<"norm_rope", [Pure, AttrSizedOperandSegments]> {
  let summary = "rotate, after an optional norm per head";
  let description = [{
    `y = rope(rms_norm(x) * w)`, or `rope(x)` without w. x `[T, H, d]`, w `[d]`, positions `[T]`,
    factors `[n_dims / 2]` (optional), table: the rope_table of the same attributes. Inside: the
    weighted norm. Bound: for a pair (x1, x2) of the norm, `m (9 u (|x1| + |x2|) + E(x1) + E(x2))`, m
    YaRN's magnitude, E the norm's bound as in vetro.rms_norm_mul.

    ```mlir
    %y = vetro.norm_rope %x, %pos, %table {operandSegmentSizes = array<i32: 1, 0, 1, 0, 1>, eps = 0.0 : f32, mode = "neox", n_dims = 4 : i64, base = 1.0e4 : f32, names = ["", "y"]}
      : (tensor<?x2x4xf32>, tensor<?xi32>, tensor<?x2x2xf32>) -> tensor<?x2x4xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, Optional<Vetro_F32>:$w, Vetro_Ids:$positions,
    Optional<Vetro_F32>:$factors, Vetro_F32:$table, F32Attr:$eps, StrAttr:$mode, I64Attr:$n_dims,
    F32Attr:$base, DefaultValuedAttr<F32Attr, "1.0f">:$freq_scale,
    DefaultValuedAttr<F32Attr, "0.0f">:$ext_factor, DefaultValuedAttr<F32Attr, "1.0f">:$attn_factor,
    DefaultValuedAttr<F32Attr, "32.0f">:$beta_fast, DefaultValuedAttr<F32Attr, "1.0f">:$beta_slow,
    DefaultValuedAttr<I64Attr, "0">:$n_ctx_orig, StrArrayAttr:$names);
  let results = (outs Vetro_F32:$result);
}

def Vetro_NormRopeStoreOp : Vetro_FusedOpBase<"norm_rope_store",
    [MemoryEffects<[MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "rotate the keys and store them";
  let description = [{
    `state[slots[t]] = round(rope(rms_norm(x) * w))`; operands as in vetro.norm_rope, and the
    state with the slots. Inside: the weighted norm and the rotated keys before rounding. Bound: as
    vetro.norm_rope before rounding to the state's element type.

    ```mlir
    vetro.norm_rope_store %x, %pos, %table, %state, %slots {operandSegmentSizes = array<i32: 1, 0, 1, 0, 1, 1, 1>, eps = 0.0 : f32, mode = "neox", n_dims = 4 : i64, base = 1.0e4 : f32, names = ["", "k"]}
      : (tensor<?x2x4xf32>, tensor<?xi32>, tensor<?x2x2xf32>, !vetro.state<2, 4, f16>, tensor<?xi32>) -> ()
    ```
  }];
  let arguments = (ins Vetro_F32:$x, Optional<Vetro_F32>:$w, Vetro_Ids:$positions,
    Optional<Vetro_F32>:$factors, Vetro_F32:$table, Vetro_AnyState:$state, Vetro_Ids:$slots,
    F32Attr:$eps, StrAttr:$mode, I64Attr:$n_dims,
    F32Attr:$base, DefaultValuedAttr<F32Attr, "1.0f">:$freq_scale,
    DefaultValuedAttr<F32Attr, "0.0f">:$ext_factor, DefaultValuedAttr<F32Attr, "1.0f">:$attn_factor,
    DefaultValuedAttr<F32Attr, "32.0f">:$beta_fast, DefaultValuedAttr<F32Attr, "1.0f">:$beta_slow,
    DefaultValuedAttr<I64Attr, "0">:$n_ctx_orig, StrArrayAttr:$names);
}

def Vetro_AttentionOp : Vetro_FusedOpBase<"attention", [MemoryEffects<[MemRead]>,
    DeclareOpInterfaceMethods<Vetro_FusedOpInterface, ["countRoundings"]>]> {
  let summary = "scaled dot-product attention over the KV cache";
  let description = [{
    `ctx = softmax(softcap(scale * q k^T), mask) v` per head, sums over the cells seen only, KV head h / (H / H'). q `[T, H, d]`,
    states of H' heads, positions and sequences `[T]`, cells and their positions and sequences
    `[C]`, result `[T, H * d]`, as f32 or as int8 records.
    Inside: keys, values, scores (after scale and soft-cap, before the mask), probabilities, context.
    Bound: `(C + C/16 + 18) u sum p|v| + sum E(p) |v|` with `E(p) = p (e^d - 1)`,
    `d = (6 pages + 35) u + 4 u max|s - max s| + 2 max E(s)`, pages = C/256 + 1, and for a score
    `E(s) = (d + d/16 + 21) u scale sum|q*k|`, plus the soft-cap's roundings.
    Source: Vaswani et al. 2017, eq. 1; Ainslie et al. 2023 (grouped queries).

    ```mlir
    %y = vetro.attention %q, %ks, %vs, %pos, %seq, %cells, %cpos, %cseq {scale = 0.5 : f32, softcap = 0.0 : f32, window = 0 : i64, names = ["k", "v", "s", "p", "c"]}
      : (tensor<?x4x4xf32>, !vetro.state<2, 4, f16>, !vetro.state<2, 4, f16>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x16xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$q, Vetro_AnyState:$k_state, Vetro_AnyState:$v_state,
    Vetro_Ids:$positions, Vetro_Ids:$sequences, Vetro_Ids:$cells, Vetro_Ids:$cell_positions,
    Vetro_Ids:$cell_sequences, F32Attr:$scale, F32Attr:$softcap, I64Attr:$window,
    StrArrayAttr:$names);
  let results = (outs Vetro_F32:$result);
}

#endif
