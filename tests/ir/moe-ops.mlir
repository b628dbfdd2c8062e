// The ops of layer norm and of mixtures of experts, printed as they are parsed.
// RUN: %vetro opt %s | %vetro opt | FileCheck --enable-var-scope %s

// CHECK-LABEL: func @route
func.func @route(%probs: tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  // CHECK: %[[IDX:.*]] = vetro.top_k %{{.*}} {k = 2 : i64} : (tensor<?x8xf32>) -> tensor<?x2xi32>
  %idx = vetro.top_k %probs {k = 2 : i64} : (tensor<?x8xf32>) -> tensor<?x2xi32>
  // CHECK: vetro.take_along %{{.*}}, %[[IDX]] : (tensor<?x8xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>
  %w = vetro.take_along %probs, %idx : (tensor<?x8xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>
  // CHECK: vetro.reduce %{{.*}} {axis = 1 : i64, kind = "sum"} : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %sum = vetro.reduce %w {kind = "sum", axis = 1 : i64} : (tensor<?x2xf32>) -> tensor<?x1xf32>
  // CHECK: vetro.clamp %{{.*}} {hi = 1.000000e+00 : f32, lo = 6.10351563E-5 : f32}
  %safe = vetro.clamp %sum {lo = 6.10351563E-5 : f32, hi = 1.0 : f32} : (tensor<?x1xf32>) -> tensor<?x1xf32>
  // CHECK: vetro.div %{{.*}}, %{{.*}} : (tensor<?x2xf32>, tensor<?x1xf32>) -> tensor<?x2xf32>
  %y = vetro.div %w, %safe : (tensor<?x2xf32>, tensor<?x1xf32>) -> tensor<?x2xf32>
  return %idx, %y : tensor<?x2xi32>, tensor<?x2xf32>
}

// CHECK-LABEL: func @experts
func.func @experts(%x: tensor<?x1x8xf32>, %w: tensor<3x4x8xf32, #vetro.q<f16>>, %i: tensor<?x2xi32>) -> tensor<?x2x4xf32> {
  // CHECK: vetro.moe_matmul {{.*}} : (tensor<?x1x8xf32>, tensor<3x4x8xf32, #vetro.q<f16>>, tensor<?x2xi32>) -> tensor<?x2x4xf32>
  %y = vetro.moe_matmul %x, %w, %i : (tensor<?x1x8xf32>, tensor<3x4x8xf32, #vetro.q<f16>>, tensor<?x2xi32>) -> tensor<?x2x4xf32>
  return %y : tensor<?x2x4xf32>
}

// CHECK-LABEL: func @layer_norm
func.func @layer_norm(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: vetro.layer_norm %{{.*}} {eps = {{.*}} : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = vetro.layer_norm %x {eps = 1.0e-5 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
