// RUN: %vetro opt %s | %vetro opt | FileCheck %s

// Storage formats and layouts are part of a type, states are types of their own.
// CHECK: vetro.weight @blk.0.attn_q.weight : tensor<576x576xf32, #vetro.q<q4_1>>
// CHECK: vetro.weight @output.weight : tensor<64x256xf32, #vetro.q<q6_K, rows16>>
// CHECK: vetro.state @blk.0.k_cache "k" : !vetro.state<3, 64, f16>
vetro.weight @"blk.0.attn_q.weight" : tensor<576x576xf32, #vetro.q<q4_1>>
vetro.weight @"output.weight" : tensor<64x256xf32, #vetro.q<q6_K, rows16>>
vetro.state @"blk.0.k_cache" "k" : !vetro.state<3, 64, f16>

// CHECK-LABEL: func.func @record
// CHECK: vetro.quantize %{{.*}} : (tensor<?x64xf32>) -> tensor<?x64xf32, #vetro.q<a8>>
func.func @record(%x: tensor<?x64xf32>) -> tensor<?x64xf32, #vetro.q<a8>> {
  %y = vetro.quantize %x : (tensor<?x64xf32>) -> tensor<?x64xf32, #vetro.q<a8>>
  return %y : tensor<?x64xf32, #vetro.q<a8>>
}
