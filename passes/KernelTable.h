// Which kernel multiplies with which weight format: the one table that select-kernels reads.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace vetro {

struct KernelChoice {
  llvm::StringRef format;     ///< storage format of the weight
  llvm::StringRef activation; ///< format of x: "a8" (int8 record) or "f32"
  llvm::StringRef layout;     ///< layout of the weight in memory
  llvm::StringRef kernel;     ///< micro-kernel (runtime/kernels/cpu)
};

/// The choice for a weight format, or null where no kernel reads it.
const KernelChoice *kernelFor(llvm::StringRef format);

/// The activation format that a weight format wants; empty where no kernel reads it.
llvm::StringRef activationFor(llvm::StringRef format);

} // namespace vetro
