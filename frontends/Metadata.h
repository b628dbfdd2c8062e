// Metadata of the module under its GGUF keys, read through typed accessors that record their use.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

namespace vetro {

/// Reads `vetro.metadata` of a module. `{arch}.` is put before a key that starts with a dot:
/// `.block_count` reads `llama.block_count`.
///
/// Errors are sticky: an accessor that fails records the first error and returns a harmless value,
/// so that a frontend reads all it needs and asks `takeError` once.
class Metadata {
public:
  explicit Metadata(mlir::ModuleOp module);

  llvm::StringRef arch() const { return archName; }
  /// The value of block_count; 0 where there is none.
  int64_t layers() const;
  bool has(llvm::StringRef key) const { return bool(find(key)); }
  bool isArray(llvm::StringRef key) const {
    return llvm::isa_and_nonnull<mlir::ArrayAttr>(find(key));
  }

  /// A required integer in [low, high], of any integer type.
  int64_t integer(llvm::StringRef key, int64_t low, int64_t high);
  int64_t integerOr(llvm::StringRef key, int64_t fallback, int64_t low, int64_t high);
  /// One integer for each layer: a scalar is repeated, an array must have `layers` elements.
  std::vector<int64_t> perLayer(llvm::StringRef key, int64_t layers,
                                std::optional<int64_t> fallback, int64_t low, int64_t high);
  /// A required (or optional) finite number in (low, high].
  float number(llvm::StringRef key, double low, double high);
  float numberOr(llvm::StringRef key, float fallback, double low, double high);
  /// A required (or optional) string.
  std::string text(llvm::StringRef key);
  std::string textOr(llvm::StringRef key, llvm::StringRef fallback);

  /// Records an error about a key, unless one is recorded already. `type`: that of an override.
  void fail(llvm::StringRef key, const llvm::Twine &found, const llvm::Twine &expected,
            llvm::StringRef type = "u32");
  /// Records a contradiction that harms nothing.
  void warn(llvm::StringRef key, const llvm::Twine &what);
  const std::vector<std::string> &warnings() const { return warned; }
  bool failed() const { return !error.empty(); }
  llvm::Error takeError();

  /// Keys of this architecture that no accessor has read.
  std::vector<std::string> unusedKeys() const;

private:
  mlir::Attribute find(llvm::StringRef key) const;
  std::string full(llvm::StringRef key) const;
  int64_t check(llvm::StringRef key, mlir::Attribute value, int64_t low, int64_t high);

  mlir::DictionaryAttr values;
  std::string archName;
  mutable llvm::StringSet<> used;
  std::string error;
  std::vector<std::string> warned;
};

} // namespace vetro
