// RUN: %vetro opt %s --vetro-plan-memory --vetro-schedule --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: %vetro opt %s --vetro-plan-memory --vetro-schedule="disable=a explain=true" --mlir-use-nameloc-as-prefix 2> %t.why | FileCheck %s --check-prefix=OFF
// RUN: %vetro opt %s --vetro-plan-memory --vetro-schedule=explain=true 2>&1 >/dev/null | FileCheck %s --check-prefix=WHY

// Steps that do not read each other need no barrier between them.
// OFF-LABEL: func.func @independent
// OFF: %a = vetro.unary {{.*}}vetro.barrier
// WHY: "a"{{.*}}: schedule: not here, 'b' depends on nothing of its group
// WHY: "b"{{.*}}: schedule: barrier, 'c' reads what was written before
// WHY: "c"{{.*}}: schedule: barrier, the last step
// CHECK-LABEL: func.func @independent
// CHECK: %a = vetro.unary %arg0 {kind = "silu", vetro.buffers = array<i64: 0>} :
// CHECK: %b = vetro.unary %arg0 {kind = "relu", vetro.barrier, vetro.buffers = array<i64: 1>} :
// CHECK: %c = vetro.add %a, %b {vetro.barrier, vetro.buffers
func.func @independent(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %a = vetro.unary %x {kind = "silu"} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("a")
  %b = vetro.unary %x {kind = "relu"} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("b")
  %c = vetro.add %a, %b : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32> loc("c")
  return %c : tensor<?x32xf32>
}

// A chain waits after each step.
// CHECK-LABEL: func.func @chain
// CHECK: %a = vetro.unary %arg0 {{.*}}vetro.barrier
// CHECK: %b = vetro.unary %a {{.*}}vetro.barrier
func.func @chain(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %a = vetro.unary %x {kind = "silu"} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("a")
  %b = vetro.unary %a {kind = "silu"} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("b")
  return %b : tensor<?x32xf32>
}

// What is stored is read only after all threads have stored it.
// CHECK-LABEL: func.func @store_then_load
// CHECK: vetro.kv_store {{.*}}vetro.barrier
// CHECK: %k = vetro.kv_load
vetro.state @"blk.0.k_cache" "k" : !vetro.state<2, 4, f16>
func.func @store_then_load(%x: tensor<?x2x4xf32>, %slots: tensor<?xi32>, %cells: tensor<?xi32> {vetro.input = "cells"}) -> tensor<?x2x4xf32> {
  %s = vetro.get_state @"blk.0.k_cache" : !vetro.state<2, 4, f16>
  vetro.kv_store %s, %x, %slots : (!vetro.state<2, 4, f16>, tensor<?x2x4xf32>, tensor<?xi32>) -> ()
  %k = vetro.kv_load %s, %cells : (!vetro.state<2, 4, f16>, tensor<?xi32>) -> tensor<?x2x4xf32> loc("k")
  return %k : tensor<?x2x4xf32>
}
