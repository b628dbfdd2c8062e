// Step functions and micro-kernels to one object file for one instruction set level.
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace vetro {

/// The highest level that this CPU runs: "scalar", "avx2", "avx512" or "vnni".
llvm::StringRef bestLevel();
/// The levels below this one, the highest first.
std::vector<llvm::StringRef> levelsBelow(llvm::StringRef level);

/// Links the kernels of `level` into `steps`, optimises and compiles. Every function is built for
/// exactly that level, so forcing a lower one gives that machine's code. Errors: an unknown level;
/// one that this CPU does not run; a kernel that is called but does not exist.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compileObject(std::unique_ptr<llvm::Module> steps, llvm::StringRef level);

/// The same as assembly text.
llvm::Expected<std::string> compileAssembly(std::unique_ptr<llvm::Module> steps,
                                            llvm::StringRef level);

} // namespace vetro
