// RUN: %vetro opt %s --vetro-fuse-rms-norm='explain=true disable=blk.9' --mlir-use-nameloc-as-prefix 2> %t.why | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.why

// The weight goes into the norm.
// CHECK-LABEL: func.func @weight
// CHECK: %blk.0.attn_norm = vetro.rms_norm_mul %arg0, %arg1 {eps = {{.*}}, names = ["blk.0.attn_norm"]}
// CHECK-NOT: vetro.mul
// WHY-DAG: "blk.0.attn_norm"{{.*}}: fuse-rms-norm: rms_norm, mul -> rms_norm_mul
func.func @weight(%x: tensor<?x32xf32>, %w: tensor<32xf32>) -> tensor<?x32xf32> {
  %n = vetro.rms_norm %x {eps = 1.0e-5 : f32} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc(unknown)
  %y = vetro.mul %n, %w : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32> loc("blk.0.attn_norm")
  return %y : tensor<?x32xf32>
}

// The residual add goes into the post-norm, whose own name stays inside.
// CHECK-LABEL: func.func @residual
// CHECK: %blk.0.resid_mid = vetro.rms_norm_mul_add %arg0, %arg1, %arg2 {{.*}}names = ["blk.0.attn_post_norm"]
// CHECK-NOT: vetro.add
// WHY-DAG: "blk.0.resid_mid"{{.*}}: fuse-rms-norm: rms_norm_mul, add -> rms_norm_mul_add
func.func @residual(%x: tensor<?x32xf32>, %w: tensor<32xf32>, %r: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %n = vetro.rms_norm %x {eps = 1.0e-6 : f32} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc(unknown)
  %p = vetro.mul %n, %w : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32> loc("blk.0.attn_post_norm")
  %y = vetro.add %p, %r : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32> loc("blk.0.resid_mid")
  return %y : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @read_twice
// CHECK: vetro.rms_norm %
// CHECK: %blk.1.attn_norm = vetro.mul
// WHY-DAG: "blk.1.attn_norm"{{.*}}: fuse-rms-norm: not here, the bare norm is read elsewhere too
func.func @read_twice(%x: tensor<?x32xf32>, %w: tensor<32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %n = vetro.rms_norm %x {eps = 1.0e-5 : f32} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc(unknown)
  %y = vetro.mul %n, %w : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32> loc("blk.1.attn_norm")
  return %y, %n : tensor<?x32xf32>, tensor<?x32xf32>
}

// CHECK-LABEL: func.func @factor_is_a_matrix
// CHECK: vetro.rms_norm %
// CHECK: %blk.2.attn_norm = vetro.mul
// WHY-DAG: "blk.2.attn_norm"{{.*}}: fuse-rms-norm: not here, the factor is no vector
func.func @factor_is_a_matrix(%x: tensor<?x32xf32>, %w: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %n = vetro.rms_norm %x {eps = 1.0e-5 : f32} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc(unknown)
  %y = vetro.mul %n, %w : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32> loc("blk.2.attn_norm")
  return %y : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @off
// CHECK: vetro.rms_norm %
// CHECK: %blk.9.attn_norm = vetro.mul
// WHY-DAG: "blk.9.attn_norm"{{.*}}: fuse-rms-norm: not here, switched off here
func.func @off(%x: tensor<?x32xf32>, %w: tensor<32xf32>) -> tensor<?x32xf32> {
  %n = vetro.rms_norm %x {eps = 1.0e-5 : f32} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc(unknown)
  %y = vetro.mul %n, %w : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32> loc("blk.9.attn_norm")
  return %y : tensor<?x32xf32>
}
