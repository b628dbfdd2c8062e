// Equal ops on equal types share one function; another broadcast is another function.
// RUN: %vetro opt --vetro-plan-memory --vetro-schedule --vetro-emit-steps %s | FileCheck %s

// CHECK-LABEL: llvm.func @vt_step_0_add
// CHECK-LABEL: llvm.func @vt_step_1_add
// CHECK-NOT: llvm.func @vt_step_2
func.func @forward(%x: tensor<?x16xf32> {vetro.input = "x"},
                   %bias: tensor<16xf32> {vetro.input = "bias"}) -> tensor<?x16xf32> {
  %a = vetro.add %x, %x : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %b = vetro.add %a, %x : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %c = vetro.add %b, %bias : (tensor<?x16xf32>, tensor<16xf32>) -> tensor<?x16xf32>
  return %c : tensor<?x16xf32>
}
