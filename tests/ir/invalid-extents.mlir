// What could divide by zero, overflow, or be looked up in vain is refused before any pass sees it.
// RUN: %vetro opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{a state needs heads of at least one number, found 0 heads of 4}}
func.func private @refused(!vetro.state<0, 4, f16>)

// -----

// expected-error@+1 {{a state needs heads of at least one number, found 2 heads of -4}}
func.func private @refused(!vetro.state<2, -4, f16>)

// -----

// expected-error@+1 {{a state holds fewer than 2^31 numbers a position}}
func.func private @refused(!vetro.state<4611686018427387904, 4, f16>)

// -----

// expected-error@+1 {{a state is kept as f16 or f32, found 'bf16'}}
func.func private @refused(!vetro.state<2, 4, bf16>)

// -----

// expected-error@+1 {{rows stored as q4_K must be a multiple of 256 long}}
func.func private @refused(tensor<8x64xf32, #vetro.q<q4_K>>)

// -----

// expected-error@+1 {{rows stored as a8 must be a multiple of 32 long}}
func.func private @refused(tensor<?x40xf32, #vetro.q<a8>>)

// -----

// expected-error@+1 {{rows stored as a8 must be a multiple of 32 long}}
func.func private @refused(tensor<4x?xf32, #vetro.q<a8>>)

// -----

// expected-error@+1 {{rows stored as f16 must be a multiple of 1 long}}
func.func private @refused(tensor<f32, #vetro.q<f16>>)

// -----

// expected-error@+1 {{a storage format encodes f32, found 'i32'}}
func.func private @refused(tensor<64xi32, #vetro.q<q8_0>>)

// -----

// expected-error@+1 {{type must be a tensor of f32 of static shape, found 'f32'}}
vetro.weight @"w" : f32

// -----

// expected-error@+1 {{type must be a tensor of f32 of static shape}}
vetro.weight @"w" : tensor<4x0xf32>

// -----

// expected-error@+1 {{type must be a tensor of f32 of static shape}}
vetro.weight @"w" : tensor<?x4xf32>

// -----

// expected-error@+1 {{type must be a tensor of f32 of static shape}}
vetro.weight @"w" : tensor<1099511627776x2xf32>

// -----

// expected-error@+1 {{kind must be k or v, found 'q'}}
vetro.state @"s" "q" : !vetro.state<2, 4, f16>

// -----

// expected-error@+1 {{type must be a state, found 'f16'}}
vetro.state @"s" "k" : f16

// -----

vetro.state @"w" "k" : !vetro.state<2, 4, f16>
func.func @refused() {
  // expected-error@+1 {{no vetro.weight is named @w}}
  %w = vetro.get_weight @"w" : tensor<4xf32>
  return
}

// -----

vetro.weight @"w" : tensor<4xf32>
func.func @refused() {
  // expected-error@+1 {{result must have the type of @w, 'tensor<4xf32>'}}
  %w = vetro.get_weight @"w" : tensor<5xf32>
  return
}

// -----

func.func @refused() {
  // expected-error@+1 {{no vetro.state is named @s}}
  %s = vetro.get_state @"s" : !vetro.state<2, 4, f16>
  return
}

// -----

func.func @refused(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{operand #0 must be tensor of f32, no axis empty}}
  %y = vetro.softmax %x : (tensor<4x0xf32>) -> tensor<4x0xf32>
  return
}

// -----

func.func @refused(%x: tensor<f32>) {
  // expected-error@+1 {{operand #0 must be tensor of f32, no axis empty}}
  %y = vetro.softmax %x : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @refused(%x: tensor<4294967296x4294967296x?xf32>) {
  // expected-error@+1 {{operand #0 must be tensor of f32, no axis empty}}
  %y = vetro.softmax %x : (tensor<4294967296x4294967296x?xf32>) -> tensor<4294967296x4294967296x?xf32>
  return
}

// -----

func.func @refused(%t: tensor<8x4xf32>, %i: tensor<0xi32>) {
  // expected-error@+1 {{operand #1 must be list of i32}}
  %y = vetro.gather_rows %t, %i : (tensor<8x4xf32>, tensor<0xi32>) -> tensor<0x4xf32>
  return
}

// -----

func.func @refused(%t: tensor<8x4xf32>, %i: tensor<?xi32>) {
  // expected-error@+1 {{result must be [?, 4], found}}
  %y = vetro.gather_rows %t, %i : (tensor<8x4xf32>, tensor<?xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @refused(%t: tensor<8x?xf32>, %i: tensor<?xi32>) {
  // expected-error@+1 {{table must be a matrix with rows of known length}}
  %y = vetro.gather_rows %t, %i : (tensor<8x?xf32>, tensor<?xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @refused(%x: tensor<?x4xf32>, %w: tensor<?x4xf32>) {
  // expected-error@+1 {{w must have a static shape}}
  %y = vetro.matmul %x, %w : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @refused(%a: tensor<?x4x8xf32>, %b: tensor<2x4x8xf32>) {
  // expected-error@+1 {{must be a multiple of those of b}}
  %y = vetro.bmm %a, %b : (tensor<?x4x8xf32>, tensor<2x4x8xf32>) -> tensor<?x4x4xf32>
  return
}

// -----

func.func @refused(%a: tensor<?x4xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{axis of b is 3, of a ?}}
  %y = vetro.add %a, %b : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @refused(%x: tensor<?x2x4xf32>, %p: tensor<?xi32>, %f: tensor<?xf32>) {
  // expected-error@+1 {{factors must be [2], found}}
  %y = vetro.rope %x, %p, %f {mode = "norm", n_dims = 4 : i64, base = 1.0e4 : f32} : (tensor<?x2x4xf32>, tensor<?xi32>, tensor<?xf32>) -> tensor<?x2x4xf32>
  return
}

// -----

func.func @refused(%x: tensor<?x2x4xf32>, %p: tensor<3xi32>) {
  // expected-error@+1 {{positions must be [?], found}}
  %y = vetro.rope %x, %p {mode = "norm", n_dims = 4 : i64, base = 1.0e4 : f32} : (tensor<?x2x4xf32>, tensor<3xi32>) -> tensor<?x2x4xf32>
  return
}

// -----

func.func @refused(%p: tensor<?xi32>) {
  // expected-error@+1 {{result must be [?, ?], found}}
  %y = vetro.attn_mask %p, %p, %p, %p : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @refused(%s: !vetro.state<2, 4, f16>, %x: tensor<3x2x4xf32>, %i: tensor<?xi32>) {
  // expected-error@+1 {{values must be [?, 2, 4], found}}
  vetro.kv_store %s, %x, %i : (!vetro.state<2, 4, f16>, tensor<3x2x4xf32>, tensor<?xi32>) -> ()
  return
}

// -----

func.func @refused(%x: tensor<?x8xf32>) {
  // expected-error@+1 {{places from 9223372036854775807 are outside an axis of 8}}
  %y = vetro.slice %x {axis = 1 : i64, begin = 9223372036854775807 : i64, len = 2 : i64} : (tensor<?x8xf32>) -> tensor<?x2xf32>
  return
}

// -----

func.func @refused(%x: tensor<?x8xf32>) {
  // expected-error@+1 {{axis must be a static axis of x, found 0}}
  %y = vetro.slice %x {axis = 0 : i64, begin = 0 : i64, len = 2 : i64} : (tensor<?x8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @refused(%x: tensor<?x8xf32>) {
  // expected-error@+1 {{result must be [?, 2], found}}
  %y = vetro.slice %x {axis = 1 : i64, begin = 0 : i64, len = 2 : i64} : (tensor<?x8xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @refused(%a: tensor<?x4xf32>) {
  // expected-error@+1 {{axis must be static in a and b, found 0}}
  %y = vetro.concat %a, %a {axis = 0 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @refused(%x: tensor<4x?xf32>) {
  // expected-error@+1 {{x must be [..., K] with K a multiple of 32}}
  %y = vetro.quantize %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  return
}

// -----

func.func @refused(%x: tensor<?x?xf32>, %i: tensor<?x2xi32>) {
  // expected-error@+1 {{x must be [T, E] with as many rows as idx}}
  %y = vetro.take_along %x, %i : (tensor<?x?xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>
  return
}

// -----

func.func @refused(%x: tensor<?x1x8xf32>, %w: tensor<3x4x8xf32>, %i: tensor<5x2xi32>) {
  // expected-error@+1 {{x must have 1 row a token or as many as idx}}
  %y = vetro.moe_matmul %x, %w, %i : (tensor<?x1x8xf32>, tensor<3x4x8xf32>, tensor<5x2xi32>) -> tensor<?x2x4xf32>
  return
}

// -----

func.func @refused(%x: tensor<?x32xf32>, %w: tensor<16xf32>) {
  // expected-error@+1 {{w must be [32], found}}
  %y = vetro.rms_norm_mul %x, %w {eps = 1.0e-5 : f32, names = ["n"]} : (tensor<?x32xf32>, tensor<16xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @refused(%x: tensor<?x32xf32>, %w: tensor<32xf32>) {
  // expected-error@+1 {{names must be 1, found 0}}
  %y = vetro.rms_norm_mul %x, %w {eps = 1.0e-5 : f32, names = []} : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @refused(%x: tensor<?x32xf32>, %w: tensor<32xf32>, %r: tensor<?x16xf32>) {
  // expected-error@+1 {{residual must be [?, 32], found}}
  %y = vetro.rms_norm_mul_add %x, %w, %r {eps = 1.0e-5 : f32, names = ["n"]} : (tensor<?x32xf32>, tensor<32xf32>, tensor<?x16xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @refused(%x: tensor<?x32xf32>, %i: tensor<?xi32>, %w: tensor<32xf32>) {
  // expected-error@+1 {{result must be [?, 32], found}}
  %y = vetro.head_norm %x, %i, %w {eps = 1.0e-5 : f32, names = ["n"]} : (tensor<?x32xf32>, tensor<?xi32>, tensor<32xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @refused(%x: tensor<?x32xf32>, %w: tensor<32x32xf32>) {
  // expected-error@+1 {{names must be 3, found 4}}
  %q, %k, %v = vetro.qkv_matmul %x, %w, %w, %w {names = ["q", "k", "v", "z"]} : (tensor<?x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>)
  return
}

// -----

func.func @refused(%x: tensor<?x32xf32>, %w: tensor<16x32xf32>, %r: tensor<16xf32>) {
  // expected-error@+1 {{residual must be [?, 16], found}}
  %y = vetro.matmul_add %x, %w, %r {names = ["o"]} : (tensor<?x32xf32>, tensor<16x32xf32>, tensor<16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @refused(%x: tensor<?x2x4xf32>, %p: tensor<?xi32>, %t: tensor<?x1x2xf32>) {
  // expected-error@+1 {{table must be [?, 2, 2], found}}
  %y = vetro.norm_rope %x, %p, %t {operandSegmentSizes = array<i32: 1, 0, 1, 0, 1>, eps = 0.0 : f32, mode = "neox", n_dims = 4 : i64, base = 1.0e4 : f32, names = ["", "y"]} : (tensor<?x2x4xf32>, tensor<?xi32>, tensor<?x1x2xf32>) -> tensor<?x2x4xf32>
  return
}

// -----

func.func @refused(%x: tensor<?x3x4xf32>, %p: tensor<?xi32>, %t: tensor<?x2x2xf32>, %s: !vetro.state<2, 4, f16>) {
  // expected-error@+1 {{values must be [?, 2, 4], found}}
  vetro.norm_rope_store %x, %p, %t, %s, %p {operandSegmentSizes = array<i32: 1, 0, 1, 0, 1, 1, 1>, eps = 0.0 : f32, mode = "neox", n_dims = 4 : i64, base = 1.0e4 : f32, names = ["", "k"]} : (tensor<?x3x4xf32>, tensor<?xi32>, tensor<?x2x2xf32>, !vetro.state<2, 4, f16>, tensor<?xi32>) -> ()
  return
}

// -----

func.func @refused(%q: tensor<?x4x4xf32>, %k: !vetro.state<2, 4, f16>, %v: !vetro.state<1, 4, f16>, %p: tensor<?xi32>) {
  // expected-error@+1 {{keys have 2 heads, values 1}}
  %y = vetro.attention %q, %k, %v, %p, %p, %p, %p, %p {scale = 0.5 : f32, softcap = 0.0 : f32, window = 0 : i64, names = ["k", "v", "s", "p", "c"]} : (tensor<?x4x4xf32>, !vetro.state<2, 4, f16>, !vetro.state<1, 4, f16>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @refused(%q: tensor<?x?x4xf32>, %k: !vetro.state<2, 4, f16>, %v: !vetro.state<2, 4, f16>, %p: tensor<?xi32>) {
  // expected-error@+1 {{q must be [T, multiple of 2, 4]}}
  %y = vetro.attention %q, %k, %v, %p, %p, %p, %p, %p {scale = 0.5 : f32, softcap = 0.0 : f32, window = 0 : i64, names = ["k", "v", "s", "p", "c"]} : (tensor<?x?x4xf32>, !vetro.state<2, 4, f16>, !vetro.state<2, 4, f16>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @refused(%q: tensor<?x4x4xf32>, %k: !vetro.state<2, 4, f16>, %v: !vetro.state<2, 4, f16>, %p: tensor<?xi32>) {
  // expected-error@+1 {{result must be [?, 16], found}}
  %y = vetro.attention %q, %k, %v, %p, %p, %p, %p, %p {scale = 0.5 : f32, softcap = 0.0 : f32, window = 0 : i64, names = ["k", "v", "s", "p", "c"]} : (tensor<?x4x4xf32>, !vetro.state<2, 4, f16>, !vetro.state<2, 4, f16>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x12xf32>
  return
}

// -----

func.func @refused(%q: tensor<?x4x4xf32>, %k: !vetro.state<2, 4, f16>, %v: !vetro.state<2, 4, f16>, %p: tensor<?xi32>) {
  // expected-error@+1 {{softcap and window must not be negative}}
  %y = vetro.attention %q, %k, %v, %p, %p, %p, %p, %p {scale = 0.5 : f32, softcap = 0.0 : f32, window = -1 : i64, names = ["k", "v", "s", "p", "c"]} : (tensor<?x4x4xf32>, !vetro.state<2, 4, f16>, !vetro.state<2, 4, f16>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @refused(%q: tensor<?x4x4xf32>, %k: !vetro.state<2, 4, f16>, %v: !vetro.state<2, 4, f16>, %p: tensor<?xi32>) {
  // expected-error@+1 {{softcap and window must not be negative}}
  %y = vetro.attention %q, %k, %v, %p, %p, %p, %p, %p {scale = 0.5 : f32, softcap = 0x7FC00000 : f32, window = 0 : i64, names = ["k", "v", "s", "p", "c"]} : (tensor<?x4x4xf32>, !vetro.state<2, 4, f16>, !vetro.state<2, 4, f16>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x16xf32>
  return
}
