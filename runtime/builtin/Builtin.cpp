// Where the bytes lie, and what its name means.
#include "runtime/builtin/Builtin.h"
#include "llvm/Support/FileSystem.h"

namespace {
/// As embed.py writes it; the model is the only one.
struct Held {
  const char *path;
  const uint8_t *begin, *end;
};
} // namespace
extern "C" const Held vt_builtin[];

namespace vetro {

llvm::ArrayRef<uint8_t> builtinModel() { return {vt_builtin[0].begin, vt_builtin[0].end}; }

llvm::Error useBuiltin(llvm::StringRef path, gguf::OpenOptions &open) {
  if (path != builtinName)
    return llvm::Error::success();
  if (llvm::sys::fs::exists(path))
    return llvm::createStringError("\"tiny\" is the model inside Vetro, and a file here; write "
                                   "./tiny for the file, or work in another folder");
  open.content = builtinModel();
  return llvm::Error::success();
}

} // namespace vetro
