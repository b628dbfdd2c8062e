// What the ops of layer norm and of mixtures of experts refuse.
// RUN: %vetro opt --split-input-file --verify-diagnostics %s

func.func @layer_norm_eps(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{eps must lie in (0, 1e-2], found 0.5}}
  %y = vetro.layer_norm %x {eps = 0.5 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}
// -----
func.func @more_than_all(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{k must lie in 1..4, found 5}}
  %y = vetro.top_k %x {k = 5 : i64} : (tensor<?x4xf32>) -> tensor<?x5xi32>
  return
}
// -----
func.func @uneven_groups(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{groups must be at most 64 and divide 4, found 3}}
  %y = vetro.top_k %x {k = 1 : i64, groups = 3 : i64} : (tensor<?x4xf32>) -> tensor<?x1xi32>
  return
}
// -----
func.func @too_few_in_groups(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{groups_used must lie in 1..2 and hold k = 3 numbers, found 1}}
  %y = vetro.top_k %x {k = 3 : i64, groups = 2 : i64} : (tensor<?x4xf32>) -> tensor<?x3xi32>
  return
}
// -----
func.func @taken_shape(%x: tensor<?x4xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{result must have the shape of idx}}
  %y = vetro.take_along %x, %i : (tensor<?x4xf32>, tensor<?x2xi32>) -> tensor<?x3xf32>
  return
}
// -----
func.func @expert_width(%x: tensor<?x1x8xf32>, %w: tensor<3x4x16xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{x has rows of 8, w of 16}}
  %y = vetro.moe_matmul %x, %w, %i : (tensor<?x1x8xf32>, tensor<3x4x16xf32>, tensor<?x2xi32>) -> tensor<?x2x4xf32>
  return
}
// -----
func.func @expert_rows(%x: tensor<?x3x8xf32>, %w: tensor<3x4x8xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{x must have 1 row a token or as many as idx}}
  %y = vetro.moe_matmul %x, %w, %i : (tensor<?x3x8xf32>, tensor<3x4x8xf32>, tensor<?x2xi32>) -> tensor<?x2x4xf32>
  return
}
// -----
func.func @reduce_kind(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{kind must be sum, mean or max, found 'product'}}
  %y = vetro.reduce %x {kind = "product", axis = 1 : i64} : (tensor<?x4xf32>) -> tensor<?x1xf32>
  return
}
// -----
func.func @reduce_tokens(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{axis must be a static axis of x, found 0}}
  %y = vetro.reduce %x {kind = "sum", axis = 0 : i64} : (tensor<?x4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @reduce_shape(%x: tensor<?x2x4xf32>) {
  // expected-error @+1 {{result must be x without axis 1, or 1 long there}}
  %y = vetro.reduce %x {kind = "sum", axis = 1 : i64} : (tensor<?x2x4xf32>) -> tensor<?x2xf32>
  return
}
// -----
func.func @div_axis(%a: tensor<?x4xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{axis of b is 3, of a 4}}
  %y = vetro.div %a, %b : (tensor<?x4xf32>, tensor<3xf32>) -> tensor<?x4xf32>
  return
}
// -----
func.func @clamp_range(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{lo must not be above hi}}
  %y = vetro.clamp %x {lo = 2.0 : f32, hi = 1.0 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}
