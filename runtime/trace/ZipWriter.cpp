// Members, then their directory.
#include "runtime/trace/Zip.h"

#include "llvm/Support/EndianStream.h"
#include <zlib.h>

namespace vetro {

/// Raw deflate, as zip files have it.
static std::string deflated(llvm::StringRef bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return "";
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = uInt(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = uInt(packed.size());
  bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(done ? stream.total_out : 0);
  deflateEnd(&stream);
  return packed;
}

/// A member's header before its bytes, or its line of the directory: APPNOTE 4.3.7 and 4.3.12.
void ZipWriter::writeHeader(const Written &member, bool inDirectory) {
  llvm::support::endian::Writer w(out, llvm::endianness::little);
  w.write<uint32_t>(inDirectory ? 0x02014b50 : 0x04034b50);
  if (inDirectory)
    w.write<uint16_t>(20); // made by: the format's version 2.0
  w.write<uint16_t>(20);
  w.write<uint16_t>(1 << 11); // names are UTF-8
  w.write<uint16_t>(member.method);
  w.write<uint32_t>(0x00210000); // 1980-01-01: equal runs give equal files
  w.write<uint32_t>(member.crc);
  w.write<uint32_t>(uint32_t(member.packedBytes));
  w.write<uint32_t>(uint32_t(member.sizeBytes));
  w.write<uint16_t>(uint16_t(member.name.size()));
  w.write<uint16_t>(0); // no extra field
  if (inDirectory) {
    w.write<uint16_t>(0); // no comment
    w.write<uint16_t>(0); // first disk
    w.write<uint16_t>(0); // no text
    w.write<uint32_t>(0); // plain attributes
    w.write<uint32_t>(uint32_t(member.local));
  }
  out << member.name;
  written += (inDirectory ? 46 : 30) + member.name.size();
}

void ZipWriter::add(llvm::StringRef name, llvm::StringRef bytes, bool pack) {
  std::string packed = pack ? deflated(bytes) : "";
  bool isPacked = !packed.empty() && packed.size() < bytes.size();
  llvm::StringRef stored = isPacked ? llvm::StringRef(packed) : bytes;
  uLong crc = crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size());
  members.push_back({name.str(), uint16_t(isPacked ? 8 : 0), uint32_t(crc), stored.size(),
                     bytes.size(), written});
  writeHeader(members.back(), false);
  out << stored;
  written += stored.size();
}

llvm::Error ZipWriter::finish() {
  uint64_t directory = written;
  for (const Written &member : members)
    writeHeader(member, true);
  if (written > UINT32_MAX || members.size() > UINT16_MAX)
    return llvm::createStringError("is larger than 4 GB, which this format does not hold: write a "
                                   "folder instead");
  llvm::support::endian::Writer w(out, llvm::endianness::little);
  w.write<uint32_t>(0x06054b50);
  w.write<uint32_t>(0); // this disk, the directory's disk
  w.write<uint16_t>(uint16_t(members.size()));
  w.write<uint16_t>(uint16_t(members.size()));
  w.write<uint32_t>(uint32_t(written - directory));
  w.write<uint32_t>(uint32_t(directory));
  w.write<uint16_t>(0); // no comment
  return llvm::Error::success();
}

} // namespace vetro
