// The directory of a zip file: what an .npz is. Stored and deflated members, also of more than 4 GB
// (zip64). Format: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 to 4.5.
#pragma once

#include "runtime/trace/Bytes.h"

#include <vector>

namespace vetro {

struct ZipMember {
  std::string name;
  /// Where its unpacked bytes are: the file itself for stored ones, else something that unpacks.
  std::shared_ptr<const Bytes> bytes;
  uint64_t offset = 0, sizeBytes = 0; ///< in `bytes`
};

/// All members, in the order of the directory. Nothing is unpacked yet: a deflated member whose
/// bytes are damaged is an error when they are read. Error: no directory, one that the file's
/// length does not fit, a member that is encrypted or packed in another way.
llvm::Expected<std::vector<ZipMember>> readZip(std::shared_ptr<const Bytes> file);

} // namespace vetro
