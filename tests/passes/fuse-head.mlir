// RUN: %vetro opt %s --vetro-fuse-head='explain=true disable=final_norm_off' --mlir-use-nameloc-as-prefix 2> %t.why | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.why

// CHECK-LABEL: func.func @wanted_rows
// CHECK: %final_norm = vetro.head_norm %arg0, %arg1, %arg2 {{.*}}names = ["final_norm"]
// CHECK-NOT: vetro.gather_rows
// WHY: "final_norm"{{.*}}: fuse-head: gather_rows, rms_norm_mul -> head_norm
func.func @wanted_rows(%x: tensor<?x32xf32>, %rows: tensor<?xi32>, %w: tensor<32xf32>) -> tensor<?x32xf32> {
  %r = vetro.gather_rows %x, %rows : (tensor<?x32xf32>, tensor<?xi32>) -> tensor<?x32xf32> loc(unknown)
  %y = vetro.rms_norm_mul %r, %w {eps = 1.0e-5 : f32, names = ["final_norm"]} : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32> loc("final_norm")
  return %y : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @read_twice
// CHECK: vetro.gather_rows
// CHECK: %twice = vetro.rms_norm_mul
// WHY: "twice"{{.*}}: fuse-head: not here, the rows are read elsewhere too
func.func @read_twice(%x: tensor<?x32xf32>, %rows: tensor<?xi32>, %w: tensor<32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %r = vetro.gather_rows %x, %rows : (tensor<?x32xf32>, tensor<?xi32>) -> tensor<?x32xf32> loc(unknown)
  %y = vetro.rms_norm_mul %r, %w {eps = 1.0e-5 : f32, names = ["twice"]} : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32> loc("twice")
  return %y, %r : tensor<?x32xf32>, tensor<?x32xf32>
}

// The norm of an embedding is no head.
// CHECK-LABEL: func.func @embedding
// CHECK: vetro.gather_rows
// CHECK: %blk.0.attn_norm = vetro.rms_norm_mul
// WHY: "blk.0.attn_norm"{{.*}}: fuse-head: not here, the rows come from a weight
vetro.weight @"token_embd.weight" : tensor<8x32xf32>
func.func @embedding(%ids: tensor<?xi32>, %w: tensor<32xf32>) -> tensor<?x32xf32> {
  %t = vetro.get_weight @"token_embd.weight" : tensor<8x32xf32>
  %r = vetro.gather_rows %t, %ids : (tensor<8x32xf32>, tensor<?xi32>) -> tensor<?x32xf32> loc("embed")
  %y = vetro.rms_norm_mul %r, %w {eps = 1.0e-5 : f32, names = ["blk.0.attn_norm"]} : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32> loc("blk.0.attn_norm")
  return %y : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @off
// CHECK: vetro.gather_rows
// CHECK: %final_norm_off = vetro.rms_norm_mul
// WHY: "final_norm_off"{{.*}}: fuse-head: not here, switched off here
func.func @off(%x: tensor<?x32xf32>, %rows: tensor<?xi32>, %w: tensor<32xf32>) -> tensor<?x32xf32> {
  %r = vetro.gather_rows %x, %rows : (tensor<?x32xf32>, tensor<?xi32>) -> tensor<?x32xf32> loc(unknown)
  %y = vetro.rms_norm_mul %r, %w {eps = 1.0e-5 : f32, names = ["final_norm_off"]} : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32> loc("final_norm_off")
  return %y : tensor<?x32xf32>
}
