// RUN: %vetro opt %s --vetro-fuse-qkv='explain=true disable=blk.9' --mlir-use-nameloc-as-prefix 2> %t.why | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.why

// With names as prefixes the results share the name of the first; `names` holds all three.
// CHECK-LABEL: func.func @three
// CHECK: %blk.0.q, %blk.0.k, %blk.0.v = vetro.qkv_matmul %arg0, %arg1, %arg2, %arg3
// CHECK-NOT: vetro.matmul
// WHY: ["blk.0.q", "blk.0.k", "blk.0.v"]{{.*}}: fuse-qkv: 3 matmuls -> qkv_matmul
func.func @three(%x: tensor<?x32xf32>, %wq: tensor<32x32xf32>, %wk: tensor<16x32xf32>, %wv: tensor<16x32xf32>)
    -> (tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>) {
  %q = vetro.matmul %x, %wq : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32> loc("blk.0.q")
  %k = vetro.matmul %x, %wk : (tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x16xf32> loc("blk.0.k")
  %v = vetro.matmul %x, %wv : (tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x16xf32> loc("blk.0.v")
  return %q, %k, %v : tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>
}

// CHECK-LABEL: func.func @two
// CHECK: %blk.1.ffn_gate = vetro.matmul
// CHECK: %blk.1.ffn_up = vetro.matmul
// WHY: "blk.1.ffn_gate"{{.*}}: fuse-qkv: not here, 2 matmuls share this input, not 3
func.func @two(%x: tensor<?x32xf32>, %a: tensor<32x32xf32>, %b: tensor<32x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %g = vetro.matmul %x, %a : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32> loc("blk.1.ffn_gate")
  %u = vetro.matmul %x, %b : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32> loc("blk.1.ffn_up")
  return %g, %u : tensor<?x32xf32>, tensor<?x32xf32>
}

// One weight wants x as it is, another as the int8 record.
// CHECK-LABEL: func.func @formats
// CHECK: %blk.2.q = vetro.matmul
// CHECK: %blk.2.k = vetro.matmul
// CHECK: %blk.2.v = vetro.matmul
// WHY: "blk.2.q"{{.*}}: fuse-qkv: not here, the weights want different activation formats
func.func @formats(%x: tensor<?x32xf32>, %wq: tensor<32x32xf32>, %wk: tensor<16x32xf32, #vetro.q<q8_0>>, %wv: tensor<16x32xf32>)
    -> (tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>) {
  %q = vetro.matmul %x, %wq : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32> loc("blk.2.q")
  %k = vetro.matmul %x, %wk : (tensor<?x32xf32>, tensor<16x32xf32, #vetro.q<q8_0>>) -> tensor<?x16xf32> loc("blk.2.k")
  %v = vetro.matmul %x, %wv : (tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x16xf32> loc("blk.2.v")
  return %q, %k, %v : tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>
}

// CHECK-LABEL: func.func @off
// CHECK: %blk.9.q = vetro.matmul
// WHY: "blk.9.q"{{.*}}: fuse-qkv: not here, switched off here
func.func @off(%x: tensor<?x32xf32>, %wq: tensor<32x32xf32>, %wk: tensor<16x32xf32>, %wv: tensor<16x32xf32>)
    -> (tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>) {
  %q = vetro.matmul %x, %wq : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32> loc("blk.9.q")
  %k = vetro.matmul %x, %wk : (tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x16xf32> loc("blk.9.k")
  %v = vetro.matmul %x, %wv : (tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x16xf32> loc("blk.9.v")
  return %q, %k, %v : tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>
}
