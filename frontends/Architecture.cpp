// The table of architectures (one line per file of arch/, written by CMake) and the frontend pass.
#include "frontends/Architecture.h"
#include "frontends/gguf/GgufError.h"

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

/// The error about tensors that no part of the architecture reads; the first is named.
static llvm::Error unusedError(const Metadata &metadata, ArrayRef<std::string> unused) {
  int64_t layers = metadata.layers();
  int64_t layer = ir::layerOf(unused.front());
  std::string hint = layer >= layers ? "key '" + metadata.arch().str() + ".block_count' says " +
                                           std::to_string(layers) +
                                           " layers: correct it with "
                                           "--override-kv or convert the file again"
                                     : "convert the file again with its right architecture";
  return llvm::createStringError(
      "tensor %s is used by no part of '%s' (%zu such tensors found, none expected); %s",
      gguf::escaped(unused.front()).c_str(), metadata.arch().str().c_str(), unused.size(),
      hint.c_str());
}

const Architecture *findArchitecture(StringRef name) {
  auto named = [name](const Architecture *a) { return a->name == name; };
  auto found = llvm::find_if(architectures, named);
  return found == std::end(architectures) ? nullptr : *found;
}

const Architecture *findArchitectureOfModel(StringRef nameOrType) {
  if (const Architecture *named = findArchitecture(nameOrType))
    return named;
  auto ofType = [&](const Architecture *a) {
    return llvm::is_contained(a->modelTypes, nameOrType);
  };
  auto found = llvm::find_if(architectures, ofType);
  return found == std::end(architectures) ? nullptr : *found;
}

llvm::Expected<GraphReport> buildGraph(ModuleOp module, const GraphOptions &options) {
  module.getContext()->loadDialect<func::FuncDialect>();
  Metadata metadata(module);
  if (const Architecture *architecture = findArchitecture(metadata.arch())) {
    Blocks blocks(module, metadata, options);
    architecture->build(blocks);
    if (llvm::Error error = blocks.takeError())
      return std::move(error);
    GraphReport report{metadata.unusedKeys(), blocks.unusedTensors(), metadata.warnings()};
    if (!report.unusedTensors.empty() && !options.allowUnusedTensors)
      return unusedError(metadata, report.unusedTensors);
    return report;
  }
  if (llvm::Error error = metadata.takeError())
    return std::move(error);
  return llvm::createStringError("key 'general.architecture': found %s; expected one of %s; "
                                 "docs/adding-an-architecture.md shows how to add one",
                                 gguf::escaped(metadata.arch()).c_str(),
                                 llvm::join(architectureNames(), ", ").c_str());
}

} // namespace vetro
