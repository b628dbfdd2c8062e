// RUN: %vetro opt %s --split-input-file --vetro-select-kernels=explain=true --mlir-use-nameloc-as-prefix 2> %t.why | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.why

// The weight is laid out in tiles of rows, and x becomes the int8 record, once for both readers.
// CHECK: vetro.weight @a.weight : tensor<32x64xf32, #vetro.q<q8_0, rows16>>
// CHECK-LABEL: func.func @two_readers
// CHECK: %[[RECORD:.*]] = vetro.quantize %arg0 : (tensor<?x64xf32>) -> tensor<?x64xf32, #vetro.q<a8>>
// CHECK-NOT: vetro.quantize
// CHECK: %a = vetro.matmul %[[RECORD]], %{{.*}} {vetro.kernels = ["vt_matmul_q8_0"]}
// CHECK: %b = vetro.matmul %[[RECORD]], %{{.*}} {vetro.kernels = ["vt_matmul_q4_1"]}
// WHY: "a"{{.*}}: select-kernels: kernel vt_matmul_q8_0 on a8; not on a8x2: it costs more
// WHY: "b"{{.*}}: select-kernels: kernel vt_matmul_q4_1
vetro.weight @"a.weight" : tensor<32x64xf32, #vetro.q<q8_0>>
vetro.weight @"b.weight" : tensor<32x64xf32, #vetro.q<q4_1>>
func.func @two_readers(%x: tensor<?x64xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %wa = vetro.get_weight @"a.weight" : tensor<32x64xf32, #vetro.q<q8_0>>
  %wb = vetro.get_weight @"b.weight" : tensor<32x64xf32, #vetro.q<q4_1>>
  %a = vetro.matmul %x, %wa : (tensor<?x64xf32>, tensor<32x64xf32, #vetro.q<q8_0>>) -> tensor<?x32xf32> loc("a")
  %b = vetro.matmul %x, %wb : (tensor<?x64xf32>, tensor<32x64xf32, #vetro.q<q4_1>>) -> tensor<?x32xf32> loc("b")
  return %a, %b : tensor<?x32xf32>, tensor<?x32xf32>
}

// -----

// A norm that only matmuls read writes the record itself.
// CHECK-LABEL: func.func @direct
// CHECK: %n = vetro.rms_norm_mul {{.*}} -> tensor<?x64xf32, #vetro.q<a8>>
// CHECK-NOT: vetro.quantize
// CHECK: %y = vetro.matmul %n
func.func @direct(%x: tensor<?x64xf32>, %g: tensor<64xf32>, %w: tensor<32x64xf32, #vetro.q<q8_0>>) -> tensor<?x32xf32> {
  %n = vetro.rms_norm_mul %x, %g {eps = 1.0e-5 : f32, names = ["n"]} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32> loc("n")
  %y = vetro.matmul %n, %w : (tensor<?x64xf32>, tensor<32x64xf32, #vetro.q<q8_0>>) -> tensor<?x32xf32> loc("y")
  return %y : tensor<?x32xf32>
}

// -----

// Nothing is rounded for a weight of floats.
// CHECK-LABEL: func.func @floats
// CHECK-NOT: vetro.quantize
// CHECK: %y = vetro.matmul %arg0, %arg1 {vetro.kernels = ["vt_matmul_f16"]}
// WHY: "y"{{.*}}: select-kernels: kernel vt_matmul_f16
func.func @floats(%x: tensor<?x64xf32>, %w: tensor<32x64xf32, #vetro.q<f16>>) -> tensor<?x32xf32> {
  %y = vetro.matmul %x, %w : (tensor<?x64xf32>, tensor<32x64xf32, #vetro.q<f16>>) -> tensor<?x32xf32> loc("y")
  return %y : tensor<?x32xf32>
}
