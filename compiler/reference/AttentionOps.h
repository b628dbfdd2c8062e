// The meaning of the ops of attention.
#pragma once

#include "compiler/reference/Ops.h"

namespace vetro::ref {

/// sum a[i] * b[i] in 16 float lanes, or in double.
float dot(const float *a, const float *b, int64_t n, bool doubleSums);

Tensor rope(ir::RopeOp op, const Tensor &x, const Tensor &positions, const Tensor &factors,
            const Rounding *rounding);
Tensor ropeTable(ir::RopeTableOp op, const Tensor &positions, const Tensor &factors);
/// x [..., M, N] with `value` where mask [M, N] is -inf; x itself where the mask is empty.
Tensor hide(Tensor x, const Tensor &mask, float value);
/// `mask` may be empty.
Tensor bmm(const Tensor &a, const Tensor &b, const Tensor &mask, const Context &c);
Tensor softmax(const Tensor &x, const Tensor &mask);
Tensor attnMask(ir::AttnMaskOp op, llvm::ArrayRef<Operand> in);
void kvStore(llvm::ArrayRef<Operand> in, const Context &c);
Tensor kvLoad(ir::KvLoadOp op, llvm::ArrayRef<Operand> in, const Context &c);

} // namespace vetro::ref
