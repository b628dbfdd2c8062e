// RUN: %vetro opt %s --vetro-plan-memory --mlir-use-nameloc-as-prefix | FileCheck %s

// A buffer is free after its last reader: a and c share one, b may not take a's while c is made.
// A reshape has none of its own.
// CHECK: module attributes {vetro.num_buffers = [[N:[0-9]+]] : i64}
// CHECK-LABEL: func.func @chain
// CHECK: %a = vetro.unary %arg0 {kind = "silu", vetro.buffers = array<i64: 0>}
// CHECK: %b = vetro.unary %a {kind = "silu", vetro.buffers = array<i64: 1>}
// CHECK: %c = vetro.unary %b {kind = "silu", vetro.buffers = array<i64: 0>}
// CHECK: %r = vetro.reshape %c :
// CHECK: %d = vetro.unary %r {kind = "silu", vetro.buffers = array<i64: 1>}
func.func @chain(%x: tensor<?x32xf32>) -> tensor<?x2x16xf32> {
  %a = vetro.unary %x {kind = "silu"} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("a")
  %b = vetro.unary %a {kind = "silu"} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("b")
  %c = vetro.unary %b {kind = "silu"} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("c")
  %r = vetro.reshape %c : (tensor<?x32xf32>) -> tensor<?x2x16xf32> loc("r")
  %d = vetro.unary %r {kind = "silu"} : (tensor<?x2x16xf32>) -> tensor<?x2x16xf32> loc("d")
  return %d : tensor<?x2x16xf32>
}

// A value that is read later keeps its buffer.
// CHECK-LABEL: func.func @kept
// CHECK: %a = vetro.unary %arg0 {kind = "silu", vetro.buffers = array<i64: [[A:[0-9]+]]>}
// CHECK-NOT: vetro.buffers = array<i64: [[A]]>
// CHECK: %c = vetro.add
func.func @kept(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %a = vetro.unary %x {kind = "silu"} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("a")
  %b = vetro.unary %a {kind = "silu"} : (tensor<?x32xf32>) -> tensor<?x32xf32> loc("b")
  %c = vetro.add %a, %b : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32> loc("c")
  return %c : tensor<?x32xf32>
}
