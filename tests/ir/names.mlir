// RUN: %vetro opt %s --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: %vetro opt %s --mlir-print-debuginfo | %vetro opt --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: %vetro opt %s --mlir-print-debuginfo --mlir-use-nameloc-as-prefix | %vetro opt --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOC

// A value's name is its location; on request it is printed as its SSA name, and it survives being
// printed and read again.
// CHECK-LABEL: func.func @layer
// CHECK: %blk.0.attn_norm = vetro.rms_norm_mul %arg0
// CHECK: %blk.0.q, %blk.0.k, %blk.0.v = vetro.qkv_matmul %blk.0.attn_norm
// CHECK: return %blk.0.q, %blk.0.v
// LOC: vetro.rms_norm_mul {{.*}} loc("blk.0.attn_norm")
// LOC: vetro.qkv_matmul {{.*}} loc(fused<["blk.0.q", "blk.0.k", "blk.0.v"]>[unknown])
func.func @layer(%x: tensor<?x32xf32>, %g: tensor<32xf32>, %wq: tensor<32x32xf32>, %wk: tensor<16x32xf32>, %wv: tensor<16x32xf32>)
    -> (tensor<?x32xf32>, tensor<?x16xf32>) {
  %n = vetro.rms_norm_mul %x, %g {eps = 1.0e-5 : f32, names = ["blk.0.attn_norm"]} : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32> loc("blk.0.attn_norm")
  %q, %k, %v = vetro.qkv_matmul %n, %wq, %wk, %wv {names = ["blk.0.q", "blk.0.k", "blk.0.v"]}
    : (tensor<?x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>)
    loc(fused<["blk.0.q", "blk.0.k", "blk.0.v"]>[unknown])
  return %q, %v : tensor<?x32xf32>, tensor<?x16xf32>
}
