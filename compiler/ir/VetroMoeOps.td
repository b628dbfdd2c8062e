//===- VetroMoeOps.td - layer norm and mixtures of experts (groups G1, G2) -------===//
#ifndef VETRO_MOE_OPS_TD
#define VETRO_MOE_OPS_TD

include "compiler/ir/VetroOps.td"

def Vetro_IdTable : Type<And<[Vetro_Extents,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getElementType().isInteger(32)">,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() == 2">]>,
    "table of i32, a few per row">;

def Vetro_LayerNormOp : Vetro_PureOp<"layer_norm"> {
  let summary = "normalisation to mean 0 and variance 1, without weight and bias";
  let description = [{
    `y = (x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps)` over the last axis. x `[..., D]`, result
    the same. Weight and bias are a `vetro.mul` and a `vetro.add`. Refused: eps outside (0, 1e-2].
    Source: Ba, Kiros and Hinton 2016, "Layer Normalization", eq. 4.

    ```mlir
    %y = vetro.layer_norm %x {eps = 1.0e-5 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, F32Attr:$eps);
  let results = (outs Vetro_F32:$result);
}

def Vetro_TopKOp : Vetro_PureOp<"top_k"> {
  let summary = "the places of the largest numbers of a row";
  let description = [{
    `y[t] = i_1, ..., i_k` with `x[t, i_1] >= x[t, i_2] >= ...`; of equal numbers the lower place
    comes first, and NaN comes after every number. x `[T, E]`, result `[T, k]` of i32. With `groups` > 1 the row is cut into that many
    equal groups; a group's score is the sum of its two largest numbers, and only the
    `groups_used` best groups are looked at. Refused: k outside 1..E; groups that do not divide E,
    or over 64; fewer than k numbers in the groups that are used.
    Source: Shazeer et al. 2017, "Outrageously Large Neural Networks", eq. 5; groups:
    DeepSeek-AI 2024, "DeepSeek-V3", section 2.1.2.

    ```mlir
    %y = vetro.top_k %x {k = 2 : i64} : (tensor<?x8xf32>) -> tensor<?x2xi32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, I64Attr:$k, DefaultValuedAttr<I64Attr, "1">:$groups,
                       DefaultValuedAttr<I64Attr, "1">:$groups_used);
  let results = (outs Vetro_IdTable:$result);
}

def Vetro_TakeAlongOp : Vetro_PureOp<"take_along"> {
  let summary = "chosen numbers of each row";
  let description = [{
    `y[t, j] = x[t, idx[t, j]]`. x `[T, E]`, idx `[T, k]`, result `[T, k]`. Refused: other ranks, or
    a result whose shape is not that of idx.

    ```mlir
    %y = vetro.take_along %x, %idx : (tensor<?x8xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, Vetro_IdTable:$idx);
  let results = (outs Vetro_F32:$result);
}

def Vetro_MoeMatmulOp : Vetro_PureOp<"moe_matmul"> {
  let summary = "product with the weight matrices of chosen experts";
  let description = [{
    `y[t, j, n] = sum_k x[t, j', k] * w[idx[t, j], n, k]`, `j' = 0` where x has one row a token,
    else `j`. x `[T, 1 or J, K]`, w `[E, N, K]` in any storage format, idx `[T, J]`, result
    `[T, J, N]`. x may be int8 records, as in vetro.matmul. Refused: `K` that
    differs; other ranks; a number of rows per token that is neither 1 nor J.
    Source: Jiang et al. 2024, "Mixtral of Experts", section 2.1.

    ```mlir
    %y = vetro.moe_matmul %x, %w, %idx : (tensor<?x1x32xf32>, tensor<4x16x32xf32>, tensor<?x2xi32>) -> tensor<?x2x16xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, Vetro_Weight:$w, Vetro_IdTable:$idx);
  let results = (outs Vetro_F32:$result);
}

def Vetro_ReduceOp : Vetro_PureOp<"reduce"> {
  let summary = "sum, mean or maximum over one axis";
  let description = [{
    `kind` is `sum`, `mean` or `max`; numbers are taken in the order of the axis, and one that is NaN
    makes the result NaN. The axis is
    dropped, or kept with length 1 where the result has the rank of x. Refused: another kind; an
    axis that x lacks or that is dynamic; a result of another shape.

    ```mlir
    %y = vetro.reduce %x {kind = "sum", axis = 1 : i64} : (tensor<?x2x16xf32>) -> tensor<?x16xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, StrAttr:$kind, I64Attr:$axis);
  let results = (outs Vetro_F32:$result);
}

def Vetro_DivOp : Vetro_BinaryOp<"div", "/"> { let summary = "quotient, element by element"; }

def Vetro_ClampOp : Vetro_PureOp<"clamp"> {
  let summary = "limits to a range";
  let description = [{
    `y = min(max(x, lo), hi)`. Any shape. Refused: lo above hi, or a limit that is NaN.

    ```mlir
    %y = vetro.clamp %x {lo = 0.0 : f32, hi = 1.0 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Vetro_F32:$x, F32Attr:$lo, F32Attr:$hi);
  let results = (outs Vetro_F32:$result);
}

#endif
