// The contract of an architecture: one file in arch/ defines one of these, and nothing else in
// Vetro may ask which architecture runs.
#pragma once

#include "frontends/Alignment.h"
#include "frontends/Blocks.h"

namespace vetro {

/// Keys for random models, written KEY=TYPE:VALUE like an override.
struct Example {
  llvm::StringRef tokenizer = "gpt2";            ///< tokenizer.ggml.model: gpt2, or SentencePiece's
  llvm::ArrayRef<llvm::StringLiteral> keys = {}; ///< as in real models
  llvm::ArrayRef<llvm::StringLiteral> tinyKeys = {}; ///< in their place for a model of a few layers
};

/// What decides where the Hugging Face model rounds when it computes in BF16 or F16. Elsewhere each
/// op rounds its result, and weights are kept in that type.
struct ModelRounding {
  /// Values whose ops, weights included, it computes in F32 and rounds at the end; "*" is the
  /// layer.
  llvm::ArrayRef<llvm::StringLiteral> once = {};
  /// What files add to the weights of those ops, which it keeps without.
  float weightOffset = 0;
  /// Values that are a product with a number which it keeps in that type.
  llvm::ArrayRef<llvm::StringLiteral> roundedFactor = {};
};

/// A frontend pass: reads metadata, names its weights and builds the graph.
struct Architecture {
  llvm::StringRef name; ///< value of general.architecture
  /// Builds the graph with `blocks`; errors are sticky in `blocks` and its metadata.
  void (*build)(Blocks &blocks);
  /// What a random model of this architecture needs beside the keys that all models have.
  Example example = {};
  /// Values that the Hugging Face model has elsewhere or otherwise than decoders usually do.
  llvm::ArrayRef<ValueAlignment> alignment = {};
  bool mixtures = false; ///< whether layers may be mixtures of experts
  /// model_type in config.json of the Hugging Face models whose files have this architecture, where
  /// it is not its name.
  llvm::ArrayRef<llvm::StringLiteral> modelTypes = {};
  ModelRounding rounding = {};
};

/// What the frontend did not need, and what made it wonder.
struct GraphReport {
  std::vector<std::string> unusedKeys;
  std::vector<std::string> unusedTensors; ///< empty unless allowed by the options
  std::vector<std::string> warnings;      ///< contradictions that harm nothing
};

/// Adds `func @forward` to an imported module. Error: unknown architecture (lists the known ones),
/// a key or weight that is missing, of another shape or out of range, a tensor that the
/// architecture has no use for (computing without it would give wrong results silently).
llvm::Expected<GraphReport> buildGraph(mlir::ModuleOp module, const GraphOptions &options);

/// The architecture of this name, or null.
const Architecture *findArchitecture(llvm::StringRef name);

/// The architecture of this name, or of the files of Hugging Face's models of this model_type;
/// null.
const Architecture *findArchitectureOfModel(llvm::StringRef nameOrType);

/// Names of all architectures, sorted.
std::vector<llvm::StringRef> architectureNames();

} // namespace vetro
