// What attention becomes when no pass fuses it: loops over cells whose number the batch knows.
// RUN: %vetro opt --vetro-plan-memory --vetro-schedule --vetro-emit-steps %s | FileCheck %s

// A cell's address comes from its sequence's pages and its position; the kernel reads its heads.
// CHECK: llvm.func @vt_kv_load_k_f16(!llvm.ptr, !llvm.ptr, i32, i32, i32, !llvm.ptr)
// CHECK-LABEL: llvm.func @vt_step_0_kv_load
// CHECK: scf.for
// CHECK: llvm.call @vt_kv_load_k_f16

// Keys [C, 2, 8] to [2, C, 8]: one unit a row, copied in vectors where the last axis stays last.
// CHECK-LABEL: llvm.func @vt_step_1_transpose
// CHECK: vector<8xf32>

// CHECK-LABEL: llvm.func @vt_step_2_transpose
// CHECK-LABEL: llvm.func @vt_step_3_bmm
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.mulf {{.*}} : vector<8xf32>

// A cell is seen (0), or not (-inf).
// CHECK-LABEL: llvm.func @vt_step_4_attn_mask
// CHECK: arith.cmpi ule
// CHECK: arith.select {{.*}} : f32

// Whatever a masked cell's score is, it enters no maximum, and its weight is exactly 0; the sum runs
// in index order, in double.
// CHECK-LABEL: llvm.func @vt_step_5_softmax
// CHECK: arith.select {{.*}} : f32
// CHECK: arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK: math.exp
// CHECK: arith.select {{.*}} vector<16xf32>
// CHECK: arith.addf {{.*}} : f64
// CHECK: arith.truncf

// Nor does its value enter the sum.
// CHECK-LABEL: llvm.func @vt_step_7_bmm
// CHECK: %[[SUM:.*]] = arith.addf {{.*}} : vector<8xf32>
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[SUM]] : vector<8xf32>
vetro.state @"blk.0.k_cache" "k" : !vetro.state<2, 8, f16>
func.func @forward(%pos: tensor<?xi32> {vetro.input = "positions"},
                   %seq: tensor<?xi32> {vetro.input = "sequences"},
                   %cells: tensor<?xi32> {vetro.input = "cells"},
                   %cpos: tensor<?xi32> {vetro.input = "cell_positions"},
                   %cseq: tensor<?xi32> {vetro.input = "cell_sequences"},
                   %q: tensor<?x4x8xf32> {vetro.input = "q"}) -> tensor<4x?x8xf32> {
  %state = vetro.get_state @"blk.0.k_cache" : !vetro.state<2, 8, f16>
  %k = vetro.kv_load %state, %cells : (!vetro.state<2, 8, f16>, tensor<?xi32>) -> tensor<?x2x8xf32>
  %kt = vetro.transpose %k {perm = array<i64: 1, 0, 2>} : (tensor<?x2x8xf32>) -> tensor<2x?x8xf32>
  %qt = vetro.transpose %q {perm = array<i64: 1, 0, 2>} : (tensor<?x4x8xf32>) -> tensor<4x?x8xf32>
  %s = vetro.bmm %qt, %kt : (tensor<4x?x8xf32>, tensor<2x?x8xf32>) -> tensor<4x?x?xf32>
  %m = vetro.attn_mask %pos, %seq, %cpos, %cseq
    : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?xf32>
  %p = vetro.softmax %s, %m : (tensor<4x?x?xf32>, tensor<?x?xf32>) -> tensor<4x?x?xf32>
  %vt = vetro.transpose %k {perm = array<i64: 1, 2, 0>} : (tensor<?x2x8xf32>) -> tensor<2x8x?xf32>
  %c = vetro.bmm %p, %vt, %m : (tensor<4x?x?xf32>, tensor<2x8x?xf32>, tensor<?x?xf32>) -> tensor<4x?x8xf32>
  return %c : tensor<4x?x8xf32>
}
