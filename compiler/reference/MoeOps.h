// The meaning of layer norm and of the ops of mixtures of experts.
#pragma once

#include "compiler/reference/Ops.h"

namespace vetro::ref {

Tensor layerNorm(ir::LayerNormOp op, const Tensor &x);
Tensor topK(ir::TopKOp op, const Tensor &x);
Tensor takeAlong(ir::TakeAlongOp op, const Tensor &x, const Tensor &idx);
/// Error: an expert that the weight lacks.
llvm::Expected<Tensor> moeMatmul(ir::MoeMatmulOp op, llvm::ArrayRef<Operand> in, const Context &c);
Tensor reduce(ir::ReduceOp op, const Tensor &x, const Context &c);

} // namespace vetro::ref
