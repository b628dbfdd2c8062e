// RUN: %vetro opt %s --vetro-fuse-residual='explain=true disable=blk.9' --mlir-use-nameloc-as-prefix 2> %t.why | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.why

// CHECK-LABEL: func.func @stream
// CHECK: %blk.0.resid_mid = vetro.matmul_add %arg0, %arg1, %arg2 {names = ["blk.0.attn_out"]}
// CHECK-NOT: vetro.add
// WHY: "blk.0.resid_mid"{{.*}}: fuse-residual: matmul, add -> matmul_add
func.func @stream(%x: tensor<?x32xf32>, %w: tensor<16x32xf32>, %r: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %o = vetro.matmul %x, %w : (tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x16xf32> loc("blk.0.attn_out")
  %y = vetro.add %o, %r : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32> loc("blk.0.resid_mid")
  return %y : tensor<?x16xf32>
}

// CHECK-LABEL: func.func @bias
// CHECK: %blk.1.resid_mid = vetro.add
// WHY: "blk.1.resid_mid"{{.*}}: fuse-residual: not here, the other addend is a bias
func.func @bias(%x: tensor<?x32xf32>, %w: tensor<16x32xf32>, %r: tensor<16xf32>) -> tensor<?x16xf32> {
  %o = vetro.matmul %x, %w : (tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x16xf32> loc("blk.1.attn_out")
  %y = vetro.add %o, %r : (tensor<?x16xf32>, tensor<16xf32>) -> tensor<?x16xf32> loc("blk.1.resid_mid")
  return %y : tensor<?x16xf32>
}

// CHECK-LABEL: func.func @read_twice
// CHECK: %blk.2.resid_mid = vetro.add
// WHY: "blk.2.resid_mid"{{.*}}: fuse-residual: not here, the product is read elsewhere too
func.func @read_twice(%x: tensor<?x32xf32>, %w: tensor<16x32xf32>, %r: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  %o = vetro.matmul %x, %w : (tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x16xf32> loc("blk.2.attn_out")
  %y = vetro.add %o, %r : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32> loc("blk.2.resid_mid")
  return %y, %o : tensor<?x16xf32>, tensor<?x16xf32>
}

// CHECK-LABEL: func.func @off
// CHECK: %blk.9.resid_mid = vetro.add
// WHY: "blk.9.resid_mid"{{.*}}: fuse-residual: not here, switched off here
func.func @off(%x: tensor<?x32xf32>, %w: tensor<16x32xf32>, %r: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %o = vetro.matmul %x, %w : (tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x16xf32> loc("blk.9.attn_out")
  %y = vetro.add %o, %r : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32> loc("blk.9.resid_mid")
  return %y : tensor<?x16xf32>
}
