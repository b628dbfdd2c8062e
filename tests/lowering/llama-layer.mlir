// A whole model of one layer, from the papers' ops to step functions: every pass, in order.
// RUN: %vetro opt --vetro-fuse-rms-norm --vetro-fuse-qkv --vetro-fuse-rope --vetro-fuse-attention \
// RUN:   --vetro-fuse-glu --vetro-fuse-residual --vetro-fuse-head --vetro-select-kernels \
// RUN:   --vetro-plan-memory --vetro-schedule --vetro-emit-steps %s | FileCheck %s

// CHECK-LABEL: llvm.func @vt_step_{{[0-9]+}}_rope_table(
// CHECK-LABEL: llvm.func @vt_step_{{[0-9]+}}_gather_rows(
// CHECK-LABEL: llvm.func @vt_step_{{[0-9]+}}_rms_norm_mul(
// CHECK-LABEL: llvm.func @vt_step_{{[0-9]+}}_qkv_matmul(
// CHECK-LABEL: llvm.func @vt_step_{{[0-9]+}}_norm_rope(
// CHECK-LABEL: llvm.func @vt_step_{{[0-9]+}}_norm_rope_store(
// CHECK-LABEL: llvm.func @vt_step_{{[0-9]+}}_kv_store(
// CHECK-LABEL: llvm.func @vt_step_{{[0-9]+}}_attention(
// CHECK-LABEL: llvm.func @vt_step_{{[0-9]+}}_quantize(
// CHECK-LABEL: llvm.func @vt_step_{{[0-9]+}}_matmul_add(
// CHECK-LABEL: llvm.func @vt_step_{{[0-9]+}}_glu(
// CHECK-LABEL: llvm.func @vt_step_{{[0-9]+}}_head_norm(
// CHECK-LABEL: llvm.func @vt_step_{{[0-9]+}}_matmul(
// CHECK-NOT: vetro.
vetro.weight @"blk.0.attn_norm.weight" : tensor<64xf32>
vetro.weight @"blk.0.attn_q.weight" : tensor<64x64xf32, #vetro.q<q8_0>>
vetro.weight @"blk.0.attn_k.weight" : tensor<32x64xf32, #vetro.q<q8_0>>
vetro.weight @"blk.0.attn_v.weight" : tensor<32x64xf32, #vetro.q<q8_0>>
vetro.weight @"blk.0.attn_output.weight" : tensor<64x64xf32, #vetro.q<q8_0>>
vetro.weight @"blk.0.ffn_norm.weight" : tensor<64xf32>
vetro.weight @"blk.0.ffn_gate.weight" : tensor<96x64xf32, #vetro.q<q8_0>>
vetro.weight @"blk.0.ffn_up.weight" : tensor<96x64xf32, #vetro.q<q8_0>>
vetro.weight @"blk.0.ffn_down.weight" : tensor<64x96xf32, #vetro.q<q8_0>>
vetro.state @"blk.0.k_cache" "k" : !vetro.state<2, 16, f16>
vetro.state @"blk.0.v_cache" "v" : !vetro.state<2, 16, f16>
vetro.weight @"token_embd.weight" : tensor<96x64xf32, #vetro.q<q8_0>>
vetro.weight @"output_norm.weight" : tensor<64xf32>
func.func @forward(%tokens: tensor<?xi32> {vetro.input = "tokens"},
                   %positions: tensor<?xi32> {vetro.input = "positions"},
                   %sequences: tensor<?xi32> {vetro.input = "sequences"},
                   %slots: tensor<?xi32> {vetro.input = "slots"},
                   %outputs: tensor<?xi32> {vetro.input = "outputs"},
                   %cells: tensor<?xi32> {vetro.input = "cells"},
                   %cell_positions: tensor<?xi32> {vetro.input = "cell_positions"},
                   %cell_sequences: tensor<?xi32> {vetro.input = "cell_sequences"}) -> tensor<?x96xf32> {
  %blk.0.attn_norm.weight = vetro.get_weight @"blk.0.attn_norm.weight" : tensor<64xf32>
  %blk.0.attn_q.weight = vetro.get_weight @"blk.0.attn_q.weight" : tensor<64x64xf32, #vetro.q<q8_0>>
  %blk.0.attn_k.weight = vetro.get_weight @"blk.0.attn_k.weight" : tensor<32x64xf32, #vetro.q<q8_0>>
  %blk.0.attn_v.weight = vetro.get_weight @"blk.0.attn_v.weight" : tensor<32x64xf32, #vetro.q<q8_0>>
  %blk.0.attn_output.weight = vetro.get_weight @"blk.0.attn_output.weight" : tensor<64x64xf32, #vetro.q<q8_0>>
  %blk.0.ffn_norm.weight = vetro.get_weight @"blk.0.ffn_norm.weight" : tensor<64xf32>
  %blk.0.ffn_gate.weight = vetro.get_weight @"blk.0.ffn_gate.weight" : tensor<96x64xf32, #vetro.q<q8_0>>
  %blk.0.ffn_up.weight = vetro.get_weight @"blk.0.ffn_up.weight" : tensor<96x64xf32, #vetro.q<q8_0>>
  %blk.0.ffn_down.weight = vetro.get_weight @"blk.0.ffn_down.weight" : tensor<64x96xf32, #vetro.q<q8_0>>
  %blk.0.k_cache = vetro.get_state @"blk.0.k_cache" : !vetro.state<2, 16, f16>
  %blk.0.v_cache = vetro.get_state @"blk.0.v_cache" : !vetro.state<2, 16, f16>
  %token_embd.weight = vetro.get_weight @"token_embd.weight" : tensor<96x64xf32, #vetro.q<q8_0>>
  %output_norm.weight = vetro.get_weight @"output_norm.weight" : tensor<64xf32>
  %embed = vetro.gather_rows %token_embd.weight, %tokens : (tensor<96x64xf32, #vetro.q<q8_0>>, tensor<?xi32>) -> tensor<?x64xf32> loc("embed")
  %0 = vetro.rms_norm %embed {eps = 1.0e-5 : f32} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %blk.0.attn_norm = vetro.mul %0, %blk.0.attn_norm.weight : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32> loc("blk.0.attn_norm")
  %blk.0.q = vetro.matmul %blk.0.attn_norm, %blk.0.attn_q.weight : (tensor<?x64xf32>, tensor<64x64xf32, #vetro.q<q8_0>>) -> tensor<?x64xf32> loc("blk.0.q")
  %blk.0.q_0 = vetro.reshape %blk.0.q : (tensor<?x64xf32>) -> tensor<?x4x16xf32> loc("blk.0.q")
  %blk.0.k = vetro.matmul %blk.0.attn_norm, %blk.0.attn_k.weight : (tensor<?x64xf32>, tensor<32x64xf32, #vetro.q<q8_0>>) -> tensor<?x32xf32> loc("blk.0.k")
  %blk.0.k_1 = vetro.reshape %blk.0.k : (tensor<?x32xf32>) -> tensor<?x2x16xf32> loc("blk.0.k")
  %blk.0.v = vetro.matmul %blk.0.attn_norm, %blk.0.attn_v.weight : (tensor<?x64xf32>, tensor<32x64xf32, #vetro.q<q8_0>>) -> tensor<?x32xf32> loc("blk.0.v")
  %blk.0.v_2 = vetro.reshape %blk.0.v : (tensor<?x32xf32>) -> tensor<?x2x16xf32> loc("blk.0.v")
  %blk.0.q_rope = vetro.rope %blk.0.q_0, %positions {base = 1.000000e+05 : f32, mode = "norm", n_ctx_orig = 512 : i64, n_dims = 16 : i64} : (tensor<?x4x16xf32>, tensor<?xi32>) -> tensor<?x4x16xf32> loc("blk.0.q_rope")
  %blk.0.k_rope = vetro.rope %blk.0.k_1, %positions {base = 1.000000e+05 : f32, mode = "norm", n_ctx_orig = 512 : i64, n_dims = 16 : i64} : (tensor<?x2x16xf32>, tensor<?xi32>) -> tensor<?x2x16xf32> loc("blk.0.k_rope")
  vetro.kv_store %blk.0.k_cache, %blk.0.k_rope, %slots : (!vetro.state<2, 16, f16>, tensor<?x2x16xf32>, tensor<?xi32>) -> ()
  vetro.kv_store %blk.0.v_cache, %blk.0.v_2, %slots : (!vetro.state<2, 16, f16>, tensor<?x2x16xf32>, tensor<?xi32>) -> ()
  %blk.0.k_cache_3 = vetro.kv_load %blk.0.k_cache, %cells : (!vetro.state<2, 16, f16>, tensor<?xi32>) -> tensor<?x2x16xf32> loc("blk.0.k_cache")
  %blk.0.v_cache_4 = vetro.kv_load %blk.0.v_cache, %cells : (!vetro.state<2, 16, f16>, tensor<?xi32>) -> tensor<?x2x16xf32> loc("blk.0.v_cache")
  %1 = vetro.transpose %blk.0.q_rope {perm = array<i64: 1, 0, 2>} : (tensor<?x4x16xf32>) -> tensor<4x?x16xf32>
  %2 = vetro.transpose %blk.0.k_cache_3 {perm = array<i64: 1, 0, 2>} : (tensor<?x2x16xf32>) -> tensor<2x?x16xf32>
  %3 = vetro.bmm %1, %2 : (tensor<4x?x16xf32>, tensor<2x?x16xf32>) -> tensor<4x?x?xf32>
  %blk.0.attn_scores = vetro.scale %3 {s = 2.500000e-01 : f32} : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32> loc("blk.0.attn_scores")
  %4 = vetro.attn_mask %positions, %sequences, %cell_positions, %cell_sequences : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?xf32>
  %blk.0.attn_probs = vetro.softmax %blk.0.attn_scores, %4 : (tensor<4x?x?xf32>, tensor<?x?xf32>) -> tensor<4x?x?xf32> loc("blk.0.attn_probs")
  %6 = vetro.transpose %blk.0.v_cache_4 {perm = array<i64: 1, 2, 0>} : (tensor<?x2x16xf32>) -> tensor<2x16x?xf32>
  %7 = vetro.bmm %blk.0.attn_probs, %6, %4 : (tensor<4x?x?xf32>, tensor<2x16x?xf32>, tensor<?x?xf32>) -> tensor<4x?x16xf32>
  %blk.0.attn_ctx = vetro.transpose %7 {perm = array<i64: 1, 0, 2>} : (tensor<4x?x16xf32>) -> tensor<?x4x16xf32> loc("blk.0.attn_ctx")
  %blk.0.attn_ctx_5 = vetro.reshape %blk.0.attn_ctx : (tensor<?x4x16xf32>) -> tensor<?x64xf32> loc("blk.0.attn_ctx")
  %blk.0.attn_out = vetro.matmul %blk.0.attn_ctx_5, %blk.0.attn_output.weight : (tensor<?x64xf32>, tensor<64x64xf32, #vetro.q<q8_0>>) -> tensor<?x64xf32> loc("blk.0.attn_out")
  %blk.0.resid_mid = vetro.add %blk.0.attn_out, %embed : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> loc("blk.0.resid_mid")
  %8 = vetro.rms_norm %blk.0.resid_mid {eps = 1.0e-5 : f32} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %blk.0.ffn_norm = vetro.mul %8, %blk.0.ffn_norm.weight : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32> loc("blk.0.ffn_norm")
  %blk.0.ffn_gate = vetro.matmul %blk.0.ffn_norm, %blk.0.ffn_gate.weight : (tensor<?x64xf32>, tensor<96x64xf32, #vetro.q<q8_0>>) -> tensor<?x96xf32> loc("blk.0.ffn_gate")
  %blk.0.ffn_up = vetro.matmul %blk.0.ffn_norm, %blk.0.ffn_up.weight : (tensor<?x64xf32>, tensor<96x64xf32, #vetro.q<q8_0>>) -> tensor<?x96xf32> loc("blk.0.ffn_up")
  %9 = vetro.unary %blk.0.ffn_gate {kind = "silu"} : (tensor<?x96xf32>) -> tensor<?x96xf32>
  %blk.0.ffn_act = vetro.mul %9, %blk.0.ffn_up : (tensor<?x96xf32>, tensor<?x96xf32>) -> tensor<?x96xf32> loc("blk.0.ffn_act")
  %blk.0.ffn_out = vetro.matmul %blk.0.ffn_act, %blk.0.ffn_down.weight : (tensor<?x96xf32>, tensor<64x96xf32, #vetro.q<q8_0>>) -> tensor<?x64xf32> loc("blk.0.ffn_out")
  %blk.0.l_out = vetro.add %blk.0.ffn_out, %blk.0.resid_mid : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> loc("blk.0.l_out")
  %rows = vetro.gather_rows %blk.0.l_out, %outputs : (tensor<?x64xf32>, tensor<?xi32>) -> tensor<?x64xf32>
  %n = vetro.rms_norm %rows {eps = 1.0e-5 : f32} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %final_norm = vetro.mul %n, %output_norm.weight : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32> loc("final_norm")
  %logits = vetro.matmul %final_norm, %token_embd.weight : (tensor<?x64xf32>, tensor<96x64xf32, #vetro.q<q8_0>>) -> tensor<?x96xf32> loc("logits")
  return %logits : tensor<?x96xf32>
}
