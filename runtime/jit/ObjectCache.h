// Compiled plans on disk: a second start touches neither MLIR nor the code generator.
#pragma once

#include "runtime/abi/Plan.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <optional>

namespace vetro {

/// One entry: object code and the plan that calls it.
struct CacheEntry {
  std::unique_ptr<llvm::MemoryBuffer> object;
  Plan plan;
};

/// A folder of entries. Safe with several processes: files are written beside and renamed.
class ObjectCache {
public:
  /// `folder` is made when the first entry is stored; empty: nothing is kept.
  explicit ObjectCache(std::string folder) : folder(std::move(folder)) {}

  /// A key from all that decides the code, in the caller's words; this program's build and the
  /// CPU's features are added here.
  static std::string key(llvm::StringRef description);

  /// The entry, or nothing where there is none, or where it is damaged (it is then removed).
  std::optional<CacheEntry> find(llvm::StringRef key) const;
  /// Keeps an entry. Error: the folder cannot be written; harmless, the run goes on.
  llvm::Error store(llvm::StringRef key, llvm::StringRef object, const Plan &plan) const;

private:
  std::string path(llvm::StringRef key) const;
  std::string folder;
};

} // namespace vetro
