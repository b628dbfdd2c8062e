// RUN: %vetro opt %s --split-input-file --verify-diagnostics

// What the verifiers refuse, and that they say what was found.
// expected-error@+1 {{unknown storage format 'q9_9'}}
func.func @refused(%x: tensor<4x32xf32, #vetro.q<q9_9>>) {
  return
}

// -----

// expected-error@+1 {{unknown layout 'columns'; known: rows16}}
func.func @refused(%x: tensor<4x32xf32, #vetro.q<q4_0, columns>>) {
  return
}

// -----

// expected-error@+2 {{table must be a matrix}}
func.func @refused(%t: tensor<8xf32>, %i: tensor<?xi32>) {
  %y = vetro.gather_rows %t, %i : (tensor<8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

// expected-error@+2 {{result must be [?, 4], found}}
func.func @refused(%t: tensor<8x4xf32>, %i: tensor<?xi32>) {
  %y = vetro.gather_rows %t, %i : (tensor<8x4xf32>, tensor<?xi32>) -> tensor<?x5xf32>
  return
}

// -----

// expected-error@+2 {{x has rows of 64, w of 32}}
func.func @refused(%x: tensor<?x64xf32>, %w: tensor<8x32xf32>) {
  %y = vetro.matmul %x, %w : (tensor<?x64xf32>, tensor<8x32xf32>) -> tensor<?x8xf32>
  return
}

// -----

// expected-error@+2 {{result must be [?, 8], found}}
func.func @refused(%x: tensor<?x32xf32>, %w: tensor<8x32xf32>) {
  %y = vetro.matmul %x, %w : (tensor<?x32xf32>, tensor<8x32xf32>) -> tensor<?x9xf32>
  return
}

// -----

// expected-error@+2 {{groups of a (3) must be a multiple of those of b (2)}}
func.func @refused(%a: tensor<3x?x8xf32>, %b: tensor<2x?x8xf32>) {
  %y = vetro.bmm %a, %b : (tensor<3x?x8xf32>, tensor<2x?x8xf32>) -> tensor<3x?x?xf32>
  return
}

// -----

// expected-error@+2 {{mask must be [4, 8], found}}
func.func @refused(%a: tensor<2x4x8xf32>, %b: tensor<2x5x8xf32>, %m: tensor<2x4x8xf32>) {
  %y = vetro.bmm %a, %b, %m : (tensor<2x4x8xf32>, tensor<2x5x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

// expected-error@+2 {{mask must be [4, 8], found}}
func.func @refused(%x: tensor<2x4x8xf32>, %m: tensor<8x4xf32>) {
  %y = vetro.softmax %x, %m : (tensor<2x4x8xf32>, tensor<8x4xf32>) -> tensor<2x4x8xf32>
  return
}

// -----

// expected-error@+2 {{a mask needs x of two axes, found}}
func.func @refused(%x: tensor<8xf32>, %m: tensor<4x8xf32>) {
  %y = vetro.softmax %x, %m : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<8xf32>
  return
}

// -----

// expected-error@+2 {{axis of b is 3, of a 4}}
func.func @refused(%a: tensor<?x4xf32>, %b: tensor<3xf32>) {
  %y = vetro.add %a, %b : (tensor<?x4xf32>, tensor<3xf32>) -> tensor<?x4xf32>
  return
}

// -----

// expected-error@+2 {{result must have the shape of a}}
func.func @refused(%a: tensor<?x4xf32>, %b: tensor<4xf32>) {
  %y = vetro.mul %a, %b : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x5xf32>
  return
}

// -----

// expected-error@+2 {{result must have the shape of x}}
func.func @refused(%x: tensor<?x4xf32>) {
  %y = vetro.scale %x {s = 2.0 : f32} : (tensor<?x4xf32>) -> tensor<?x5xf32>
  return
}

// -----

// expected-error@+2 {{eps must lie in (0, 1e-2]}}
func.func @refused(%x: tensor<?x4xf32>) {
  %y = vetro.rms_norm %x {eps = 0.5 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

// expected-error@+2 {{n_dims must be even and at most the head size 4, found 6}}
func.func @refused(%x: tensor<?x2x4xf32>, %p: tensor<?xi32>) {
  %y = vetro.rope %x, %p {mode = "norm", n_dims = 6 : i64, base = 1.0e4 : f32} : (tensor<?x2x4xf32>, tensor<?xi32>) -> tensor<?x2x4xf32>
  return
}

// -----

// expected-error@+2 {{mode must be norm or neox, found 'glm'}}
func.func @refused(%x: tensor<?x2x4xf32>, %p: tensor<?xi32>) {
  %y = vetro.rope %x, %p {mode = "glm", n_dims = 4 : i64, base = 1.0e4 : f32} : (tensor<?x2x4xf32>, tensor<?xi32>) -> tensor<?x2x4xf32>
  return
}

// -----

// expected-error@+2 {{unknown function 'mish'}}
func.func @refused(%x: tensor<?x4xf32>) {
  %y = vetro.unary %x {kind = "mish"} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

// expected-error@+2 {{window must not be negative}}
func.func @refused(%p: tensor<?xi32>) {
  %y = vetro.attn_mask %p, %p, %p, %p {window = -1 : i64} : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?xf32>
  return
}

// -----

// expected-error@+2 {{static dimensions multiply to 8 and 9}}
func.func @refused(%x: tensor<?x8xf32>) {
  %y = vetro.reshape %x : (tensor<?x8xf32>) -> tensor<?x3x3xf32>
  return
}

// -----

// expected-error@+2 {{at most one dynamic axis}}
func.func @refused(%x: tensor<?x8xf32>) {
  %y = vetro.reshape %x : (tensor<?x8xf32>) -> tensor<?x?xf32>
  return
}

// -----

// expected-error@+2 {{perm is no permutation}}
func.func @refused(%x: tensor<?x8xf32>) {
  %y = vetro.transpose %x {perm = array<i64: 1, 1>} : (tensor<?x8xf32>) -> tensor<8x?xf32>
  return
}

// -----

// expected-error@+2 {{result axis 0 must be 8}}
func.func @refused(%x: tensor<?x8xf32>) {
  %y = vetro.transpose %x {perm = array<i64: 1, 0>} : (tensor<?x8xf32>) -> tensor<9x?xf32>
  return
}

// -----

// expected-error@+2 {{5 places from 4 are outside an axis of 8}}
func.func @refused(%x: tensor<?x8xf32>) {
  %y = vetro.slice %x {axis = 1 : i64, begin = 4 : i64, len = 5 : i64} : (tensor<?x8xf32>) -> tensor<?x5xf32>
  return
}

// -----

// expected-error@+2 {{axis of b is 2, of a 3}}
func.func @refused(%x: tensor<2x4xf32>) {
  %y = vetro.broadcast %x : (tensor<2x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

// expected-error@+2 {{result axis must be the sum of both}}
func.func @refused(%a: tensor<?x4xf32>, %b: tensor<?x2xf32>) {
  %y = vetro.concat %a, %b {axis = 1 : i64} : (tensor<?x4xf32>, tensor<?x2xf32>) -> tensor<?x7xf32>
  return
}

// -----

// expected-error@+2 {{x must be [..., K] with K a multiple of 32}}
func.func @refused(%x: tensor<?x40xf32>) {
  %y = vetro.quantize %x : (tensor<?x40xf32>) -> tensor<?x40xf32>
  return
}

// -----

// expected-error@+2 {{result must have the encoding #vetro.q<a8>}}
func.func @refused(%x: tensor<?x64xf32>) {
  %y = vetro.quantize %x : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

// expected-error@+2 {{x has rows of 32, w of 16}}
func.func @refused(%x: tensor<?x32xf32>, %w: tensor<8x16xf32>, %r: tensor<?x8xf32>) {
  %y = vetro.matmul_add %x, %w, %r {names = ["o"]} : (tensor<?x32xf32>, tensor<8x16xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

// expected-error@+2 {{result must be [?, 2, 2], found}}
func.func @refused(%p: tensor<?xi32>) {
  %y = vetro.rope_table %p {n_dims = 4 : i64, base = 1.0e4 : f32} : (tensor<?xi32>) -> tensor<?x3x2xf32>
  return
}

// -----

// expected-error@+2 {{q must be [T, multiple of 2, 4]}}
func.func @refused(%q: tensor<?x3x4xf32>, %s: !vetro.state<2, 4, f16>, %p: tensor<?xi32>) {
  %y = vetro.attention %q, %s, %s, %p, %p, %p, %p, %p {scale = 0.5 : f32, softcap = 0.0 : f32, window = 0 : i64, names = ["k", "v", "s", "p", "c"]} : (tensor<?x3x4xf32>, !vetro.state<2, 4, f16>, !vetro.state<2, 4, f16>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x12xf32>
  return
}

// -----

// expected-error@+2 {{values must be [?, 2, 4], found}}
func.func @refused(%s: !vetro.state<2, 4, f16>, %c: tensor<?xi32>) {
  %y = vetro.kv_load %s, %c : (!vetro.state<2, 4, f16>, tensor<?xi32>) -> tensor<?x3x4xf32>
  return
}
