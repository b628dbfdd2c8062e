// Zip files: what an .npz is, and a trace in one file. Stored and deflated members, also of more
// than 4 GB (zip64). Format: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 to 4.5.
#pragma once

#include "runtime/trace/Bytes.h"

#include "llvm/Support/raw_ostream.h"
#include <vector>

namespace vetro {

struct ZipMember {
  std::string name;                   ///< a name, never followed as a path
  std::shared_ptr<const Bytes> bytes; ///< unpacked as they are read
};

/// All members, in the order of the directory. Nothing is unpacked yet: a member whose bytes are
/// damaged is an error when its last one is read. Error: no directory, one that the file's length
/// does not fit, a member that is encrypted or packed in another way.
llvm::Expected<std::vector<ZipMember>> readZip(std::shared_ptr<const Bytes> file);

/// Writes a zip file, member by member.
class ZipWriter {
public:
  explicit ZipWriter(llvm::raw_ostream &out) : out(out) {}
  /// Appends a member; `pack`: deflated, which is worth it for text.
  void add(llvm::StringRef name, llvm::StringRef bytes, bool pack);
  /// Appends the directory. Error: more than 4 GB or 65535 members, for which a reader would need
  /// zip64.
  llvm::Error finish();

private:
  struct Written {
    std::string name;
    uint16_t method;
    uint32_t crc;
    uint64_t packedBytes, sizeBytes, local;
  };
  void writeHeader(const Written &member, bool inDirectory);

  llvm::raw_ostream &out;
  std::vector<Written> members;
  uint64_t written = 0;
};

} // namespace vetro
