// Random models: see README.md.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace vetro {

struct TinyOptions {
  std::string arch;
  std::string type = "Q8_0";  ///< a file type: fileTypeNames()
  std::string shape = "tiny"; ///< one of tinyShapes()
  int64_t layers = 0;         ///< 0: the shape's
  uint64_t seed = 0;
  bool optional = false; ///< also the tensors that files may lack: biases, a head of its own ...
  std::vector<std::string> overrides = {}; ///< KEY=TYPE:VALUE, stronger than the shape's keys
};

/// Sizes: tiny (2 layers, width 256, 512 tokens), and those of common models of 135m, 1b, 8b.
std::vector<llvm::StringRef> tinyShapes();

/// Writes a random model to `path`; the bytes depend on the options alone. Tensors are streamed:
/// the memory needed does not grow with the file. `progress` (may be null) gets the fraction of
/// weights written. Errors: unknown architecture, file type or shape, an override that the
/// architecture refuses, a failed write.
llvm::Error makeTiny(const TinyOptions &options, llvm::StringRef path,
                     llvm::function_ref<void(double fraction)> progress = nullptr);

} // namespace vetro
