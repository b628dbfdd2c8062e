// The table of architectures (one line per file of arch/, written by CMake) and the frontend pass.
#include "frontends/Architecture.h"

using namespace mlir;

namespace vetro {

namespace arch {
#define VT_ARCH(name) extern const Architecture name;
#include "frontends/Architectures.inc"
#undef VT_ARCH
} // namespace arch

static constexpr const Architecture *architectures[] = {
#define VT_ARCH(name) &arch::name,
#include "frontends/Architectures.inc"
#undef VT_ARCH
};

std::vector<StringRef> architectureNames() {
  std::vector<StringRef> names;
  for (const Architecture *a : architectures)
    names.push_back(a->name);
  llvm::sort(names);
  return names;
}

llvm::Expected<GraphReport> buildGraph(ModuleOp module, const GraphOptions &options) {
  module.getContext()->loadDialect<func::FuncDialect>();
  Metadata metadata(module);
  for (const Architecture *a : architectures) {
    if (a->name != metadata.arch())
      continue;
    Blocks blocks(module, metadata, options.kvType);
    a->build(blocks);
    if (llvm::Error error = blocks.takeError())
      return std::move(error);
    return GraphReport{metadata.unusedKeys(), blocks.unusedTensors()};
  }
  std::string found;
  llvm::raw_string_ostream out(found);
  llvm::printEscapedString(metadata.arch(), out);
  return llvm::createStringError("unknown model architecture '%s'; known: %s; "
                                 "docs/adding-an-architecture.md shows how to add one",
                                 found.c_str(), llvm::join(architectureNames(), ", ").c_str());
}

} // namespace vetro
