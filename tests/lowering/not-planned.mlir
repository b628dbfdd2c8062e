// Text that is no planned module is refused by the passes that need one.
// RUN: not %vetro opt --split-input-file --vetro-emit-steps %s 2>&1 | FileCheck %s
// RUN: not %vetro opt --split-input-file --vetro-schedule %s 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE: has no buffers for its results; run plan-memory first

// CHECK: the module has no function @forward of one block
func.func @backward(%x: tensor<?x16xf32>) {
  return
}

// -----

// CHECK: the module has no function @forward of one block
func.func private @forward(tensor<?x16xf32>) -> tensor<?x16xf32>

// -----

// CHECK: the module has no vetro.num_buffers; run plan-memory first
func.func @forward(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = vetro.softmax %x : (tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// CHECK: 'vetro.softmax' (probs) has no buffers for its results; run plan-memory first
module attributes {vetro.num_buffers = 1 : i64} {
  func.func @forward(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
    %y = vetro.softmax %x {vetro.buffers = array<i64: 1>} : (tensor<?x16xf32>) -> tensor<?x16xf32> loc("probs")
    return %y : tensor<?x16xf32>
  }
}

// -----

// CHECK: 'vetro.kv_load' (k) reads what is no step's result, weight, input or state
module attributes {vetro.num_buffers = 1 : i64} {
  func.func @forward(%s: !vetro.state<2, 4, f16>, %c: tensor<?xi32>) -> tensor<?x2x4xf32> {
    %y = vetro.kv_load %s, %c {vetro.buffers = array<i64: 0>} : (!vetro.state<2, 4, f16>, tensor<?xi32>) -> tensor<?x2x4xf32> loc("k")
    return %y : tensor<?x2x4xf32>
  }
}

// -----

// CHECK: @forward must return the result of a step: the logits
module attributes {vetro.num_buffers = 0 : i64} {
  func.func @forward(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
    return %x : tensor<?x16xf32>
  }
}

// -----

// CHECK: 'vetro.matmul' (c) multiplies with what is no weight; declare it as vetro.weight, or use vetro.bmm
module attributes {vetro.num_buffers = 1 : i64} {
  func.func @forward(%b: tensor<?x16xf32>, %a: tensor<32x16xf32>) -> tensor<?x32xf32> {
    %c = vetro.matmul %b, %a {vetro.kernels = ["vt_matmul_f32"], vetro.buffers = array<i64: 0>} : (tensor<?x16xf32>, tensor<32x16xf32>) -> tensor<?x32xf32> loc("c")
    return %c : tensor<?x32xf32>
  }
}
