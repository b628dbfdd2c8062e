// Object code in memory, ready to be called.
#pragma once

#include "runtime/abi/Kernel.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace llvm::orc {
class LLJIT;
}

namespace vetro {

/// Loaded object code. Immutable; its functions may be called by any thread while it lives.
class Code {
public:
  static llvm::Expected<std::unique_ptr<Code>> load(std::unique_ptr<llvm::MemoryBuffer> object);
  ~Code();

  /// The step of this name. Error: the object does not hold it.
  llvm::Expected<VtStep> step(llvm::StringRef name) const;

private:
  explicit Code(std::unique_ptr<llvm::orc::LLJIT> jit);
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace vetro
