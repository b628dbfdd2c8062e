// File types: which format each tensor of a quantised file gets. "Q4_K" is one format for all
// matrices; "Q4_K_M" is a mix that spends more bits where errors cost most. For make-tiny and tools
// that quantise.
#pragma once
#include "runtime/abi/Format.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace vetro::gguf {

/// A tensor, as far as its format depends on it.
struct TensorRole {
  llvm::StringRef name;          ///< "blk.3.attn_v.weight"
  llvm::ArrayRef<int64_t> shape; ///< row-major: the last axis is the row's length
  int64_t nLayers = 1;           ///< of the model
  bool isHead = false;           ///< also multiplies the last hidden state (tied embeddings)
};

/// A named choice of formats.
struct FileType {
  llvm::StringRef name; ///< "Q4_K_M"
  uint32_t id;          ///< general.file_type
  Format base;
};

/// The file type of this name, in any case. Error: unknown; the known ones are listed.
llvm::Expected<const FileType *> fileTypeByName(llvm::StringRef name);

/// All names, in the order of the table.
std::vector<llvm::StringRef> fileTypeNames();

/// The tensor's format: F32 for tensors of one axis and for routers (`ffn_gate_inp`), else what the
/// file type says, or a format of smaller blocks where rows are no whole blocks (Q4_K to Q5_0, Q5_K
/// to Q5_1, Q6_K to Q8_0, Q2_K and Q3_K to Q4_0, any to F16).
Format formatOf(const FileType &type, const TensorRole &tensor);

} // namespace vetro::gguf
