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
  /// Of a module: "input", "output". Of a function: which of what it handles; of rope "q" and "k",
  /// its results; of attention "key", "value", "scores", "probs"; of the model "logits".
  llvm::StringLiteral port;
  llvm::StringLiteral transforms; ///< from its layout to ours, in order: runtime/trace/Align.h
  bool ofFunction = false;
};

/// The functions that a capture must watch, since no module has these values.
inline constexpr llvm::StringLiteral ropeFunction = "rope", attentionFunction = "attention",
                                     modelFunction = "model";

struct Architecture;

/// The architecture's own rows, then those of all decoders for the names that these lack.
std::vector<ValueAlignment> alignmentOf(const Architecture &architecture);

} // namespace vetro
