// Ranges by file.
#include "runtime/engine/MappedFile.h"
#include "runtime/memory/Signals.h"

namespace vetro {

void catchFaults(ModelOptions &options) {
  using Bytes = llvm::ArrayRef<uint8_t>;
  installMappedFaultHandler();
  options.open.onMap = [](Bytes range) { registerMappedRange(range.data(), range.size()); };
  options.open.onUnmap = [](Bytes range) { unregisterMappedRange(range.data()); };
}

llvm::Error checkNotCut(const gguf::File &file) {
  for (llvm::ArrayRef<uint8_t> range : file.mappings())
    if (faultInMappedRange(range.data()))
      return llvm::createStringError(file.path() +
                                     ": the file was cut while it was read; load it again");
  return llvm::Error::success();
}

} // namespace vetro
