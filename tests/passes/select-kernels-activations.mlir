// RUN: %vetro opt %s --vetro-select-kernels=explain=true --mlir-use-nameloc-as-prefix 2> %t.why | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.why
// RUN: %vetro opt %s --vetro-select-kernels="disable=logits activations=^y$=a8x2" --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=ASKED
// RUN: not %vetro opt %s --vetro-select-kernels=activations=^y$=a9 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not %vetro opt %s --vetro-select-kernels=activations=*=a8 2>&1 | FileCheck %s --check-prefix=REGEX
// RUN: not %vetro opt %s --vetro-select-kernels=activations=nowhere=a8 2>&1 | FileCheck %s --check-prefix=IDLE
// FORMAT: activation '^y$=a9': expected REGEX=FORMAT, FORMAT one of f32, a8, a8x2
// REGEX: activation '*=a8': expected REGEX=FORMAT, FORMAT one of f32, a8, a8x2; the expression is wrong: repetition-operator operand invalid
// IDLE: activation 'nowhere': no quantised matmul has a name that this finds

// The head and attention's inputs are rounded to 15 bits; another reader of the same x gets 7.
// CHECK-LABEL: func.func @rules
// CHECK-DAG: %[[FINE:.*]] = vetro.quantize %arg0 : (tensor<?x64xf32>) -> tensor<?x64xf32, #vetro.q<a8x2>>
// CHECK-DAG: %[[COARSE:.*]] = vetro.quantize %arg0 : (tensor<?x64xf32>) -> tensor<?x64xf32, #vetro.q<a8>>
// CHECK: %logits = vetro.matmul %[[FINE]]
// CHECK: %y = vetro.matmul %[[COARSE]]
// WHY: "logits"{{.*}}: select-kernels: kernel vt_matmul_q8_0 on a8x2; not on a8: an error here is an error of the answer
// What is asked for comes first; at a site that is switched off the cheapest is taken.
// ASKED-LABEL: func.func @rules
// ASKED-DAG: %[[FINE:.*]] = vetro.quantize {{.*}} -> tensor<?x64xf32, #vetro.q<a8x2>>
// ASKED-DAG: %[[COARSE:.*]] = vetro.quantize {{.*}} -> tensor<?x64xf32, #vetro.q<a8>>
// ASKED: %logits = vetro.matmul %[[COARSE]]
// ASKED: %y = vetro.matmul %[[FINE]]
func.func @rules(%x: tensor<?x64xf32>, %w: tensor<32x64xf32, #vetro.q<q8_0>>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %a = vetro.matmul %x, %w : (tensor<?x64xf32>, tensor<32x64xf32, #vetro.q<q8_0>>) -> tensor<?x32xf32> loc("logits")
  %b = vetro.matmul %x, %w : (tensor<?x64xf32>, tensor<32x64xf32, #vetro.q<q8_0>>) -> tensor<?x32xf32> loc("y")
  return %a, %b : tensor<?x32xf32>, tensor<?x32xf32>
}
