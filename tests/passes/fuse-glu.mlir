// RUN: %vetro opt %s --vetro-fuse-glu='explain=true disable=blk.9' --mlir-use-nameloc-as-prefix 2> %t.why | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.why

// CHECK-LABEL: func.func @gated
// CHECK: %blk.0.ffn_act = vetro.glu %arg0, %arg2, %arg3 {kind = "silu", names = ["blk.0.ffn_gate", "blk.0.ffn_up", "", "blk.0.ffn_act"]}
// CHECK-NOT: vetro.mul
// WHY: "blk.0.ffn_act"{{.*}}: fuse-glu: 2 matmuls, unary, mul -> glu
func.func @gated(%x: tensor<?x32xf32>, %z: tensor<?x32xf32>, %a: tensor<64x32xf32>, %b: tensor<64x32xf32>) -> tensor<?x64xf32> {
  %g = vetro.matmul %x, %a : (tensor<?x32xf32>, tensor<64x32xf32>) -> tensor<?x64xf32> loc("blk.0.ffn_gate")
  %u = vetro.matmul %x, %b : (tensor<?x32xf32>, tensor<64x32xf32>) -> tensor<?x64xf32> loc("blk.0.ffn_up")
  %s = vetro.unary %g {kind = "silu"} : (tensor<?x64xf32>) -> tensor<?x64xf32> loc(unknown)
  %y = vetro.mul %s, %u : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> loc("blk.0.ffn_act")
  return %y : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @two_inputs
// CHECK: %blk.1.ffn_act = vetro.mul
// WHY: "blk.1.ffn_act"{{.*}}: fuse-glu: not here, gate and up read different inputs
func.func @two_inputs(%x: tensor<?x32xf32>, %z: tensor<?x32xf32>, %a: tensor<64x32xf32>, %b: tensor<64x32xf32>) -> tensor<?x64xf32> {
  %g = vetro.matmul %x, %a : (tensor<?x32xf32>, tensor<64x32xf32>) -> tensor<?x64xf32> loc("blk.1.ffn_gate")
  %u = vetro.matmul %z, %b : (tensor<?x32xf32>, tensor<64x32xf32>) -> tensor<?x64xf32> loc("blk.1.ffn_up")
  %s = vetro.unary %g {kind = "silu"} : (tensor<?x64xf32>) -> tensor<?x64xf32> loc(unknown)
  %y = vetro.mul %s, %u : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> loc("blk.1.ffn_act")
  return %y : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @formats
// CHECK: %blk.2.ffn_act = vetro.mul
// WHY: "blk.2.ffn_act"{{.*}}: fuse-glu: not here, the weights want different activation formats
func.func @formats(%x: tensor<?x32xf32>, %z: tensor<?x32xf32>, %a: tensor<64x32xf32>, %b: tensor<64x32xf32, #vetro.q<q8_0>>) -> tensor<?x64xf32> {
  %g = vetro.matmul %x, %a : (tensor<?x32xf32>, tensor<64x32xf32>) -> tensor<?x64xf32> loc("blk.2.ffn_gate")
  %u = vetro.matmul %x, %b : (tensor<?x32xf32>, tensor<64x32xf32, #vetro.q<q8_0>>) -> tensor<?x64xf32> loc("blk.2.ffn_up")
  %s = vetro.unary %g {kind = "silu"} : (tensor<?x64xf32>) -> tensor<?x64xf32> loc(unknown)
  %y = vetro.mul %s, %u : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> loc("blk.2.ffn_act")
  return %y : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @gate_read_twice
// CHECK: %blk.3.ffn_act = vetro.mul
// WHY: "blk.3.ffn_act"{{.*}}: fuse-glu: not here, gate or up is no matmul, or is read elsewhere too
func.func @gate_read_twice(%x: tensor<?x32xf32>, %z: tensor<?x32xf32>, %a: tensor<64x32xf32>, %b: tensor<64x32xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %g = vetro.matmul %x, %a : (tensor<?x32xf32>, tensor<64x32xf32>) -> tensor<?x64xf32> loc("blk.3.ffn_gate")
  %u = vetro.matmul %x, %b : (tensor<?x32xf32>, tensor<64x32xf32>) -> tensor<?x64xf32> loc("blk.3.ffn_up")
  %s = vetro.unary %g {kind = "silu"} : (tensor<?x64xf32>) -> tensor<?x64xf32> loc(unknown)
  %y = vetro.mul %s, %u : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> loc("blk.3.ffn_act")
  return %y, %g : tensor<?x64xf32>, tensor<?x64xf32>
}

// CHECK-LABEL: func.func @off
// CHECK: %blk.9.ffn_act = vetro.mul
// WHY: "blk.9.ffn_act"{{.*}}: fuse-glu: not here, switched off here
func.func @off(%x: tensor<?x32xf32>, %z: tensor<?x32xf32>, %a: tensor<64x32xf32>, %b: tensor<64x32xf32>) -> tensor<?x64xf32> {
  %g = vetro.matmul %x, %a : (tensor<?x32xf32>, tensor<64x32xf32>) -> tensor<?x64xf32> loc("blk.9.ffn_gate")
  %u = vetro.matmul %x, %b : (tensor<?x32xf32>, tensor<64x32xf32>) -> tensor<?x64xf32> loc("blk.9.ffn_up")
  %s = vetro.unary %g {kind = "silu"} : (tensor<?x64xf32>) -> tensor<?x64xf32> loc(unknown)
  %y = vetro.mul %s, %u : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> loc("blk.9.ffn_act")
  return %y : tensor<?x64xf32>
}
