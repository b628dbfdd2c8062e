// Which kernels multiply with which weight format: the one table that select-kernels reads.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace vetro {

/// A way to multiply with weights of one format.
struct KernelChoice {
  llvm::StringRef format;     ///< storage format of the weight
  llvm::StringRef activation; ///< format of x: "f32", or int8 records (runtime/abi/Kernel.h)
  llvm::StringRef layout;     ///< layout of the weight in memory
  llvm::StringRef kernel;     ///< micro-kernel (runtime/kernels/cpu)
};

/// The choices for a weight format, the cheapest first; none where no kernel reads it. All have the
/// same layout.
llvm::ArrayRef<KernelChoice> kernelsFor(llvm::StringRef format);

/// Where the cheapest choice is not the best: what the rounding of an activation costs in the
/// probabilities, against the work that it saves (docs/decisions/004-activation-records.md).
struct ActivationRule {
  llvm::StringRef name; ///< regular expression over the name of the matmul's result
  llvm::StringRef activation;
  llvm::StringRef why;
};
llvm::ArrayRef<ActivationRule> activationRules();

/// Whether two weight formats can multiply with one x: their cheapest choices want it in one
/// format.
bool shareActivation(llvm::StringRef a, llvm::StringRef b);

} // namespace vetro
