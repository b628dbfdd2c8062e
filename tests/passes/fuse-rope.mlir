// RUN: %vetro opt %s --vetro-fuse-rope='explain=true disable=blk.9' --mlir-use-nameloc-as-prefix 2> %t.why | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.why

// One table of cosines for all that rotate alike; keys are stored as they are rotated.
// CHECK-LABEL: func.func @query_and_key
// CHECK: %rope_table = vetro.rope_table %arg2
// CHECK-NOT: vetro.rope_table
// CHECK: %blk.0.q_rope = vetro.norm_rope %arg0, %arg2, %rope_table
// CHECK: vetro.norm_rope_store %arg1, %arg2, %rope_table, %arg3, %arg4 {{.*}}names = ["", "blk.0.k_rope"]
// CHECK-NOT: vetro.kv_store
// WHY: "blk.0.q_rope"{{.*}}: fuse-rope: rope -> norm_rope
// WHY: "blk.0.k_rope"{{.*}}: fuse-rope: rope, kv_store -> norm_rope_store
func.func @query_and_key(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %pos: tensor<?xi32>,
    %state: !vetro.state<2, 4, f16>, %slots: tensor<?xi32>) -> tensor<?x2x4xf32> {
  %qr = vetro.rope %q, %pos {mode = "norm", n_dims = 4 : i64, base = 1.0e4 : f32} : (tensor<?x2x4xf32>, tensor<?xi32>) -> tensor<?x2x4xf32> loc("blk.0.q_rope")
  %kr = vetro.rope %k, %pos {mode = "norm", n_dims = 4 : i64, base = 1.0e4 : f32} : (tensor<?x2x4xf32>, tensor<?xi32>) -> tensor<?x2x4xf32> loc("blk.0.k_rope")
  vetro.kv_store %state, %kr, %slots : (!vetro.state<2, 4, f16>, tensor<?x2x4xf32>, tensor<?xi32>) -> () loc(unknown)
  return %qr : tensor<?x2x4xf32>
}

// The norm per head goes in too, its name inside.
// CHECK-LABEL: func.func @with_norm
// CHECK: %blk.1.q_rope = vetro.norm_rope %arg0, %arg1, %arg2, %rope_table.1 {{.*}}names = ["blk.1.q_norm", "blk.1.q_rope"]
// CHECK-NOT: vetro.rms_norm_mul
// WHY: "blk.1.q_rope"{{.*}}: fuse-rope: rms_norm_mul, rope -> norm_rope
func.func @with_norm(%q: tensor<?x2x4xf32>, %w: tensor<4xf32>, %pos: tensor<?xi32>) -> tensor<?x2x4xf32> {
  %n = vetro.rms_norm_mul %q, %w {eps = 1.0e-6 : f32, names = ["blk.1.q_norm"]} : (tensor<?x2x4xf32>, tensor<4xf32>) -> tensor<?x2x4xf32> loc("blk.1.q_norm")
  %qr = vetro.rope %n, %pos {mode = "norm", n_dims = 4 : i64, base = 1.0e4 : f32} : (tensor<?x2x4xf32>, tensor<?xi32>) -> tensor<?x2x4xf32> loc("blk.1.q_rope")
  return %qr : tensor<?x2x4xf32>
}

// A norm that something else reads stays outside.
// CHECK-LABEL: func.func @norm_read_twice
// CHECK: %blk.2.q_norm = vetro.rms_norm_mul
// CHECK: %blk.2.q_rope = vetro.norm_rope %blk.2.q_norm, %arg2
// WHY: "blk.2.q_rope"{{.*}}: fuse-rope: rope -> norm_rope
func.func @norm_read_twice(%q: tensor<?x2x4xf32>, %w: tensor<4xf32>, %pos: tensor<?xi32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>) {
  %n = vetro.rms_norm_mul %q, %w {eps = 1.0e-6 : f32, names = ["blk.2.q_norm"]} : (tensor<?x2x4xf32>, tensor<4xf32>) -> tensor<?x2x4xf32> loc("blk.2.q_norm")
  %qr = vetro.rope %n, %pos {mode = "norm", n_dims = 4 : i64, base = 1.0e4 : f32} : (tensor<?x2x4xf32>, tensor<?xi32>) -> tensor<?x2x4xf32> loc("blk.2.q_rope")
  return %qr, %n : tensor<?x2x4xf32>, tensor<?x2x4xf32>
}

// CHECK-LABEL: func.func @off
// CHECK: %blk.9.q_rope = vetro.rope %
// WHY: "blk.9.q_rope"{{.*}}: fuse-rope: not here, switched off here
func.func @off(%q: tensor<?x2x4xf32>, %pos: tensor<?xi32>) -> tensor<?x2x4xf32> {
  %qr = vetro.rope %q, %pos {mode = "norm", n_dims = 4 : i64, base = 1.0e4 : f32} : (tensor<?x2x4xf32>, tensor<?xi32>) -> tensor<?x2x4xf32> loc("blk.9.q_rope")
  return %qr : tensor<?x2x4xf32>
}
