// RUN: %vetro opt %s --vetro-plan-memory --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: %vetro opt %s --vetro-plan-memory="disable=a explain=true" --mlir-use-nameloc-as-prefix 2> %t.why | FileCheck %s --check-prefix=OFF
// RUN: FileCheck %s --check-prefix=WHY < %t.why

// A buffer is free after its last reader: a and c share one, b may not take a's while c is made.
// A reshape has none of its own.
// CHECK: module attributes {vetro.num_buffers = [[N:[0-9]+]] : i64}
// Switched off at a, nothing else ever uses a's buffer.
// OFF-LABEL: func.func @chain
// OFF: %a = {{.*}}vetro.buffers = array<i64: 0>}
// OFF: %b = {{.*}}vetro.buffers = array<i64: 1>}
// OFF: %c = {{.*}}vetro.buffers = array<i64: 2>}
// OFF: %d = {{.*}}vetro.buffers = array<i64: 1>}
// WHY: "a"{{.*}}: plan-memory: not here, switched off here
// WHY: "c"{{.*}}: plan-memory: not here, no free buffer of its kind: buffer 2 is new
// WHY: "d"{{.*}}: plan-memory: buffer 1, free again
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
