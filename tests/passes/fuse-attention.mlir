// RUN: %vetro opt %s --vetro-fuse-attention='explain=true disable=blk.9' --mlir-use-nameloc-as-prefix 2> %t.why | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.why

// The names of what disappears stay inside: keys, values, scores, probabilities, context.
// CHECK-LABEL: func.func @windowed
// CHECK: %blk.0.attn_ctx = vetro.attention %arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7
// CHECK-SAME: names = ["blk.0.k_cache", "blk.0.v_cache", "blk.0.attn_scores", "blk.0.attn_probs", "blk.0.attn_ctx"]
// CHECK-SAME: scale = 1.250000e-01 : f32, softcap = 0.000000e+00 : f32, window = 512 : i64
// CHECK-NOT: vetro.bmm
// WHY: "blk.0.attn_ctx"{{.*}}: fuse-attention: bmm, scale, mask, softmax, bmm -> attention
func.func @windowed(%q: tensor<?x4x8xf32>, %ks: !vetro.state<2, 8, f16>, %vs: !vetro.state<2, 8, f16>, %pos: tensor<?xi32>,
    %seq: tensor<?xi32>, %cells: tensor<?xi32>, %cpos: tensor<?xi32>, %cseq: tensor<?xi32>) -> tensor<?x32xf32> {
  %k = vetro.kv_load %ks, %cells : (!vetro.state<2, 8, f16>, tensor<?xi32>) -> tensor<?x2x8xf32> loc("blk.0.k_cache")
  %v = vetro.kv_load %vs, %cells : (!vetro.state<2, 8, f16>, tensor<?xi32>) -> tensor<?x2x8xf32> loc("blk.0.v_cache")
  %qt = vetro.transpose %q {perm = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32>) -> tensor<4x?x8xf32> loc(unknown)
  %kt = vetro.transpose %k {perm = array<i64: 1, 0, 2>} : (tensor<?x2x8xf32>) -> tensor<2x?x8xf32> loc(unknown)
  %qk = vetro.bmm %qt, %kt : (tensor<4x?x8xf32>, tensor<2x?x8xf32>) -> tensor<4x?x?xf32> loc(unknown)
  %s = vetro.scale %qk {s = 0.125 : f32} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32> loc("blk.0.attn_scores")
  %mask = vetro.attn_mask %pos, %seq, %cpos, %cseq {window = 512 : i64} : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?xf32> loc(unknown)
  %p = vetro.softmax %s, %mask : (tensor<4x?x?xf32>, tensor<?x?xf32>) -> tensor<4x?x?xf32> loc("blk.0.attn_probs")
  %vt = vetro.transpose %v {perm = array<i64: 1, 2, 0>} : (tensor<?x2x8xf32>) -> tensor<2x8x?xf32> loc(unknown)
  %c = vetro.bmm %p, %vt, %mask : (tensor<4x?x?xf32>, tensor<2x8x?xf32>, tensor<?x?xf32>) -> tensor<4x?x8xf32> loc(unknown)
  %ct = vetro.transpose %c {perm = array<i64: 1, 0, 2>} : (tensor<4x?x8xf32>) -> tensor<?x4x8xf32> loc(unknown)
  %y = vetro.reshape %ct : (tensor<?x4x8xf32>) -> tensor<?x32xf32> loc("blk.0.attn_ctx")
  return %y : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @capped
// CHECK: %blk.1.attn_ctx = vetro.attention
// CHECK-SAME: scale = 1.250000e-01 : f32, softcap = 5.000000e+01 : f32
// CHECK-NOT: vetro.unary
// WHY: "blk.1.attn_ctx"{{.*}}: fuse-attention: bmm, scale, mask, softmax, bmm -> attention
func.func @capped(%q: tensor<?x4x8xf32>, %ks: !vetro.state<2, 8, f16>, %vs: !vetro.state<2, 8, f16>, %pos: tensor<?xi32>,
    %seq: tensor<?xi32>, %cells: tensor<?xi32>, %cpos: tensor<?xi32>, %cseq: tensor<?xi32>) -> tensor<?x32xf32> {
  %k = vetro.kv_load %ks, %cells : (!vetro.state<2, 8, f16>, tensor<?xi32>) -> tensor<?x2x8xf32> loc("blk.1.k_cache")
  %v = vetro.kv_load %vs, %cells : (!vetro.state<2, 8, f16>, tensor<?xi32>) -> tensor<?x2x8xf32> loc("blk.1.v_cache")
  %qt = vetro.transpose %q {perm = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32>) -> tensor<4x?x8xf32> loc(unknown)
  %kt = vetro.transpose %k {perm = array<i64: 1, 0, 2>} : (tensor<?x2x8xf32>) -> tensor<2x?x8xf32> loc(unknown)
  %qk = vetro.bmm %qt, %kt : (tensor<4x?x8xf32>, tensor<2x?x8xf32>) -> tensor<4x?x?xf32> loc(unknown)
  %s0 = vetro.scale %qk {s = 0.125 : f32} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32> loc(unknown)
  %s1 = vetro.scale %s0 {s = 0.02 : f32} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32> loc(unknown)
  %s2 = vetro.unary %s1 {kind = "tanh"} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32> loc(unknown)
  %s = vetro.scale %s2 {s = 50.0 : f32} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32> loc("blk.1.attn_scores")
  %mask = vetro.attn_mask %pos, %seq, %cpos, %cseq {window = 512 : i64} : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?xf32> loc(unknown)
  %p = vetro.softmax %s, %mask : (tensor<4x?x?xf32>, tensor<?x?xf32>) -> tensor<4x?x?xf32> loc("blk.1.attn_probs")
  %vt = vetro.transpose %v {perm = array<i64: 1, 2, 0>} : (tensor<?x2x8xf32>) -> tensor<2x8x?xf32> loc(unknown)
  %c = vetro.bmm %p, %vt, %mask : (tensor<4x?x?xf32>, tensor<2x8x?xf32>, tensor<?x?xf32>) -> tensor<4x?x8xf32> loc(unknown)
  %ct = vetro.transpose %c {perm = array<i64: 1, 0, 2>} : (tensor<4x?x8xf32>) -> tensor<?x4x8xf32> loc(unknown)
  %y = vetro.reshape %ct : (tensor<?x4x8xf32>) -> tensor<?x32xf32> loc("blk.1.attn_ctx")
  return %y : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @no_mask
// CHECK: %blk.2.attn_probs = vetro.softmax
// WHY: "blk.2.attn_ctx"{{.*}}: fuse-attention: not here, no mask, or no scale before it
func.func @no_mask(%q: tensor<?x4x8xf32>, %ks: !vetro.state<2, 8, f16>, %vs: !vetro.state<2, 8, f16>, %pos: tensor<?xi32>,
    %seq: tensor<?xi32>, %cells: tensor<?xi32>, %cpos: tensor<?xi32>, %cseq: tensor<?xi32>) -> tensor<?x32xf32> {
  %k = vetro.kv_load %ks, %cells : (!vetro.state<2, 8, f16>, tensor<?xi32>) -> tensor<?x2x8xf32> loc("blk.2.k_cache")
  %v = vetro.kv_load %vs, %cells : (!vetro.state<2, 8, f16>, tensor<?xi32>) -> tensor<?x2x8xf32> loc("blk.2.v_cache")
  %qt = vetro.transpose %q {perm = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32>) -> tensor<4x?x8xf32> loc(unknown)
  %kt = vetro.transpose %k {perm = array<i64: 1, 0, 2>} : (tensor<?x2x8xf32>) -> tensor<2x?x8xf32> loc(unknown)
  %qk = vetro.bmm %qt, %kt : (tensor<4x?x8xf32>, tensor<2x?x8xf32>) -> tensor<4x?x?xf32> loc(unknown)
  %s = vetro.scale %qk {s = 0.125 : f32} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32> loc("blk.2.attn_scores")
  %p = vetro.softmax %s : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32> loc("blk.2.attn_probs")
  %vt = vetro.transpose %v {perm = array<i64: 1, 2, 0>} : (tensor<?x2x8xf32>) -> tensor<2x8x?xf32> loc(unknown)
  %c = vetro.bmm %p, %vt : (tensor<4x?x?xf32>, tensor<2x8x?xf32>) -> tensor<4x?x8xf32> loc(unknown)
  %ct = vetro.transpose %c {perm = array<i64: 1, 0, 2>} : (tensor<4x?x8xf32>) -> tensor<?x4x8xf32> loc(unknown)
  %y = vetro.reshape %ct : (tensor<?x4x8xf32>) -> tensor<?x32xf32> loc("blk.2.attn_ctx")
  return %y : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @another_cap
// CHECK: %blk.3.attn_probs = vetro.softmax
// WHY: "blk.3.attn_ctx"{{.*}}: fuse-attention: not here, a function other than the soft-cap on the scores
func.func @another_cap(%q: tensor<?x4x8xf32>, %ks: !vetro.state<2, 8, f16>, %vs: !vetro.state<2, 8, f16>, %pos: tensor<?xi32>,
    %seq: tensor<?xi32>, %cells: tensor<?xi32>, %cpos: tensor<?xi32>, %cseq: tensor<?xi32>) -> tensor<?x32xf32> {
  %k = vetro.kv_load %ks, %cells : (!vetro.state<2, 8, f16>, tensor<?xi32>) -> tensor<?x2x8xf32> loc("blk.3.k_cache")
  %v = vetro.kv_load %vs, %cells : (!vetro.state<2, 8, f16>, tensor<?xi32>) -> tensor<?x2x8xf32> loc("blk.3.v_cache")
  %qt = vetro.transpose %q {perm = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32>) -> tensor<4x?x8xf32> loc(unknown)
  %kt = vetro.transpose %k {perm = array<i64: 1, 0, 2>} : (tensor<?x2x8xf32>) -> tensor<2x?x8xf32> loc(unknown)
  %qk = vetro.bmm %qt, %kt : (tensor<4x?x8xf32>, tensor<2x?x8xf32>) -> tensor<4x?x?xf32> loc(unknown)
  %s0 = vetro.scale %qk {s = 0.125 : f32} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32> loc(unknown)
  %s1 = vetro.scale %s0 {s = 0.02 : f32} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32> loc(unknown)
  %s2 = vetro.unary %s1 {kind = "sigmoid"} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32> loc(unknown)
  %s = vetro.scale %s2 {s = 50.0 : f32} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32> loc("blk.3.attn_scores")
  %mask = vetro.attn_mask %pos, %seq, %cpos, %cseq {window = 512 : i64} : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?xf32> loc(unknown)
  %p = vetro.softmax %s, %mask : (tensor<4x?x?xf32>, tensor<?x?xf32>) -> tensor<4x?x?xf32> loc("blk.3.attn_probs")
  %vt = vetro.transpose %v {perm = array<i64: 1, 2, 0>} : (tensor<?x2x8xf32>) -> tensor<2x8x?xf32> loc(unknown)
  %c = vetro.bmm %p, %vt, %mask : (tensor<4x?x?xf32>, tensor<2x8x?xf32>, tensor<?x?xf32>) -> tensor<4x?x8xf32> loc(unknown)
  %ct = vetro.transpose %c {perm = array<i64: 1, 0, 2>} : (tensor<4x?x8xf32>) -> tensor<?x4x8xf32> loc(unknown)
  %y = vetro.reshape %ct : (tensor<?x4x8xf32>) -> tensor<?x32xf32> loc("blk.3.attn_ctx")
  return %y : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @bare_values
// CHECK: %blk.4.attn_probs = vetro.softmax
// WHY: "blk.4.attn_ctx"{{.*}}: fuse-attention: not here, scores and values are not under one mask
func.func @bare_values(%q: tensor<?x4x8xf32>, %ks: !vetro.state<2, 8, f16>, %vs: !vetro.state<2, 8, f16>, %pos: tensor<?xi32>,
    %seq: tensor<?xi32>, %cells: tensor<?xi32>, %cpos: tensor<?xi32>, %cseq: tensor<?xi32>) -> tensor<?x32xf32> {
  %k = vetro.kv_load %ks, %cells : (!vetro.state<2, 8, f16>, tensor<?xi32>) -> tensor<?x2x8xf32> loc("blk.4.k_cache")
  %v = vetro.kv_load %vs, %cells : (!vetro.state<2, 8, f16>, tensor<?xi32>) -> tensor<?x2x8xf32> loc("blk.4.v_cache")
  %qt = vetro.transpose %q {perm = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32>) -> tensor<4x?x8xf32> loc(unknown)
  %kt = vetro.transpose %k {perm = array<i64: 1, 0, 2>} : (tensor<?x2x8xf32>) -> tensor<2x?x8xf32> loc(unknown)
  %qk = vetro.bmm %qt, %kt : (tensor<4x?x8xf32>, tensor<2x?x8xf32>) -> tensor<4x?x?xf32> loc(unknown)
  %s = vetro.scale %qk {s = 0.125 : f32} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32> loc("blk.4.attn_scores")
  %mask = vetro.attn_mask %pos, %seq, %cpos, %cseq {window = 512 : i64} : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?xf32> loc(unknown)
  %p = vetro.softmax %s, %mask : (tensor<4x?x?xf32>, tensor<?x?xf32>) -> tensor<4x?x?xf32> loc("blk.4.attn_probs")
  %vt = vetro.transpose %v {perm = array<i64: 1, 2, 0>} : (tensor<?x2x8xf32>) -> tensor<2x8x?xf32> loc(unknown)
  %c = vetro.bmm %p, %vt : (tensor<4x?x?xf32>, tensor<2x8x?xf32>) -> tensor<4x?x8xf32> loc(unknown)
  %ct = vetro.transpose %c {perm = array<i64: 1, 0, 2>} : (tensor<4x?x8xf32>) -> tensor<?x4x8xf32> loc(unknown)
  %y = vetro.reshape %ct : (tensor<?x4x8xf32>) -> tensor<?x32xf32> loc("blk.4.attn_ctx")
  return %y : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @off
// CHECK: %blk.9.attn_probs = vetro.softmax
// WHY: "blk.9.attn_ctx"{{.*}}: fuse-attention: not here, switched off here
func.func @off(%q: tensor<?x4x8xf32>, %ks: !vetro.state<2, 8, f16>, %vs: !vetro.state<2, 8, f16>, %pos: tensor<?xi32>,
    %seq: tensor<?xi32>, %cells: tensor<?xi32>, %cpos: tensor<?xi32>, %cseq: tensor<?xi32>) -> tensor<?x32xf32> {
  %k = vetro.kv_load %ks, %cells : (!vetro.state<2, 8, f16>, tensor<?xi32>) -> tensor<?x2x8xf32> loc("blk.9.k_cache")
  %v = vetro.kv_load %vs, %cells : (!vetro.state<2, 8, f16>, tensor<?xi32>) -> tensor<?x2x8xf32> loc("blk.9.v_cache")
  %qt = vetro.transpose %q {perm = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32>) -> tensor<4x?x8xf32> loc(unknown)
  %kt = vetro.transpose %k {perm = array<i64: 1, 0, 2>} : (tensor<?x2x8xf32>) -> tensor<2x?x8xf32> loc(unknown)
  %qk = vetro.bmm %qt, %kt : (tensor<4x?x8xf32>, tensor<2x?x8xf32>) -> tensor<4x?x?xf32> loc(unknown)
  %s = vetro.scale %qk {s = 0.125 : f32} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32> loc("blk.9.attn_scores")
  %mask = vetro.attn_mask %pos, %seq, %cpos, %cseq {window = 512 : i64} : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?xf32> loc(unknown)
  %p = vetro.softmax %s, %mask : (tensor<4x?x?xf32>, tensor<?x?xf32>) -> tensor<4x?x?xf32> loc("blk.9.attn_probs")
  %vt = vetro.transpose %v {perm = array<i64: 1, 2, 0>} : (tensor<?x2x8xf32>) -> tensor<2x8x?xf32> loc(unknown)
  %c = vetro.bmm %p, %vt, %mask : (tensor<4x?x?xf32>, tensor<2x8x?xf32>, tensor<?x?xf32>) -> tensor<4x?x8xf32> loc(unknown)
  %ct = vetro.transpose %c {perm = array<i64: 1, 0, 2>} : (tensor<4x?x8xf32>) -> tensor<?x4x8xf32> loc(unknown)
  %y = vetro.reshape %ct : (tensor<?x4x8xf32>) -> tensor<?x32xf32> loc("blk.9.attn_ctx")
  return %y : tensor<?x32xf32>
}
