// Ours and the reference's values under one name, in one layout. Each change of a layout has a name
// and is reported: nothing is turned around in silence.
#pragma once

#include "runtime/trace/TensorFile.h"

namespace vetro {

/// The named changes that lead from another program's layout to ours
/// (docs/comparing-with-pytorch.md): drop_batch [1,..] to [..]; split_heads [T,H*d] to [T,H,d];
/// heads_second [H,T,..] to [T,H,..]; halves_to_pairs, of each head ours[2i+r] = theirs[r*d/2+i].
/// `like`: the shape wanted, for split_heads. Error: an unknown name, or a shape that it does not
/// fit.
llvm::Error applyTransform(llvm::StringRef transform, llvm::ArrayRef<int64_t> like, NamedTensor &t);

/// A value that both have.
struct Aligned {
  NamedTensor ours, theirs;
  std::vector<std::string> transforms; ///< applied to theirs, in order
};

/// Reads one value from both files. The reference's transforms are those that its metadata names
/// ("transforms:NAME"); where ours keeps the last row only, the reference's last row is taken
/// ("last_row"). Error: the shapes cannot be brought together; numbers that are none in the
/// reference.
llvm::Expected<Aligned> align(const TensorFile &ours, const TensorFile &reference,
                              llvm::StringRef name);

/// A value as its file lays it out, brought to ours by the transforms that the metadata names
/// ("transforms:NAME"); these are appended to `applied`. Error: no such value, or one that does not
/// fit.
llvm::Expected<NamedTensor> readTransformed(const TensorFile &file, llvm::StringRef name,
                                            llvm::ArrayRef<int64_t> like,
                                            std::vector<std::string> &applied);

/// The reference's value alone, brought to the layout `shape`; empty `transforms` wanted by nobody.
llvm::Expected<NamedTensor> readReference(const TensorFile &reference, llvm::StringRef name,
                                          llvm::ArrayRef<int64_t> shape,
                                          std::vector<std::string> &transforms);

/// The prompt's ids that a file's metadata tells; empty: it tells none. Error: they are no ids.
llvm::Expected<std::vector<int32_t>> idsOf(const TensorFile &file);

} // namespace vetro
