// Where a value of ours is found in the Hugging Face model of the same architecture, and what lies
// between both layouts. Data: captures in PyTorch read it, comparisons name it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace vetro {

/// In name and module "*" is the layer.
struct ValueAlignment {
  llvm::StringLiteral name;   ///< "blk.*.q"
  llvm::StringLiteral module; ///< "model.layers.*.self_attn.q_proj"; a function where ofFunction
  /// Of a module: "input"; "output", of several the first, "output.1" the second; of a router,
  /// whose outputs are logits, weights and choices, "probs" (all) and "chosen" (those of its
  /// choices) before they are made to sum to 1. Of a function: which of what it handles; of rope
  /// "q" and "k", its results; of attention "key", "value", "scores", "probs"; of experts "gate",
  /// "up", "act", "down", "weighted", by token and choice; of the model "logits".
  llvm::StringLiteral port;
  llvm::StringLiteral transforms; ///< from its layout to ours, in order: runtime/trace/Align.h
  bool ofFunction = false;
  /// Only layers that have this module have the value; behind "!" only those that do not.
  llvm::StringLiteral when = "";
};

/// The functions that a capture must watch, since no module has these values.
inline constexpr llvm::StringLiteral ropeFunction = "rope", attentionFunction = "attention",
                                     expertsFunction = "experts", modelFunction = "model";

struct Architecture;

/// The architecture's own rows, then those of mixtures of experts where its layers may be some,
/// then those of all decoders; each for the names that the rows before lack.
std::vector<ValueAlignment> alignmentOf(const Architecture &architecture);

} // namespace vetro
