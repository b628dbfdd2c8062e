// From the end of the file to the directory, from there to the members.
#include "runtime/trace/Zip.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <zlib.h>

namespace vetro {
namespace {

using llvm::StringRef;
using llvm::Twine;
using namespace llvm::support::endian;

constexpr uint64_t endBytes = 22, maxCommentBytes = 65535, headerBytes = 46, localBytes = 30;

/// What the directory says of a member.
struct Header {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0;
  uint64_t packedBytes = 0, sizeBytes = 0, local = 0;
};

/// A member's unpacked bytes. A read that reaches their end tests the sum of all of them: what is
/// read is a header, and then all that follows.
class Member : public Bytes {
public:
  Member(std::shared_ptr<const Bytes> file, uint64_t offset, const Header &header)
      : Bytes(file->path(), header.sizeBytes), file(std::move(file)), offset(offset),
        header(header) {}

protected:
  llvm::Error damaged() const {
    return error("its member " + printable(header.name) +
                 " is damaged: it is not what its directory says");
  }

  std::shared_ptr<const Bytes> file;
  uint64_t offset; ///< of its packed bytes in the file
  Header header;
};

class Stored : public Member {
public:
  using Member::Member;
  llvm::Error read(uint64_t from, void *to, uint64_t bytes) const override;
};

/// Each read unpacks from the begin.
class Deflated : public Member {
public:
  using Member::Member;
  llvm::Error read(uint64_t from, void *to, uint64_t bytes) const override;

private:
  class Inflater;
};

uint32_t sumOf(uint32_t before, const void *data, uint64_t bytes) {
  return uint32_t(crc32_z(before, static_cast<const Bytef *>(data), bytes));
}

llvm::Error Stored::read(uint64_t from, void *to, uint64_t bytes) const {
  if (llvm::Error error = file->read(offset + from, to, bytes))
    return error;
  if (from + bytes != size())
    return llvm::Error::success();
  std::string before(from, '\0');
  if (llvm::Error error = file->read(offset, before.data(), from))
    return error;
  bool same = sumOf(sumOf(0, before.data(), from), to, bytes) == header.crc;
  return same ? llvm::Error::success() : damaged();
}

/// zlib at work on one member.
class Deflated::Inflater {
public:
  explicit Inflater(const Deflated &member) : member(member) {
    ready = inflateInit2(&stream, -MAX_WBITS) == Z_OK; // no header of zlib's own
  }
  ~Inflater() { inflateEnd(&stream); }
  /// The next `bytes` bytes. Error: they are not there, or damaged.
  llvm::Error next(char *to, uint64_t bytes);
  /// After the last byte. Error: more follows, or the bytes are not those that the directory
  /// summed.
  llvm::Error finish();

private:
  llvm::Error refill();

  const Deflated &member;
  z_stream stream = {};
  bool ready;
  uint64_t taken = 0; ///< packed bytes given to zlib
  uint32_t sum = 0;
  char packed[1 << 16];
};

llvm::Error Deflated::Inflater::refill() {
  uint64_t n = std::min<uint64_t>(sizeof(packed), member.header.packedBytes - taken);
  if (llvm::Error error = member.file->read(member.offset + taken, packed, n))
    return error;
  taken += n;
  stream.next_in = reinterpret_cast<Bytef *>(packed);
  stream.avail_in = uInt(n);
  return llvm::Error::success();
}

llvm::Error Deflated::Inflater::next(char *to, uint64_t bytes) {
  if (!ready)
    return member.error("could not unpack: zlib has no memory");
  while (bytes > 0) {
    uInt piece = uInt(std::min<uint64_t>(bytes, 1u << 30));
    stream.next_out = reinterpret_cast<Bytef *>(to);
    stream.avail_out = piece;
    if (stream.avail_in == 0)
      if (llvm::Error error = refill())
        return error;
    int result = inflate(&stream, Z_NO_FLUSH);
    uInt made = piece - stream.avail_out;
    bool stuck = made == 0 && stream.avail_in == 0 && taken == member.header.packedBytes;
    if ((result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) || stuck ||
        (result == Z_STREAM_END && made < bytes))
      return member.damaged();
    sum = sumOf(sum, to, made);
    to += made, bytes -= made;
  }
  return llvm::Error::success();
}

llvm::Error Deflated::Inflater::finish() {
  Bytef none;
  stream.next_out = &none, stream.avail_out = 1;
  int result = Z_OK;
  do {
    if (stream.avail_in == 0)
      if (llvm::Error error = refill())
        return error;
    result = inflate(&stream, Z_NO_FLUSH);
  } while (result == Z_OK && stream.avail_out == 1 && taken < member.header.packedBytes);
  bool ends = result == Z_STREAM_END && stream.avail_out == 1 && stream.avail_in == 0 &&
              taken == member.header.packedBytes;
  return ends && sum == member.header.crc ? llvm::Error::success() : member.damaged();
}

llvm::Error Deflated::read(uint64_t from, void *to, uint64_t bytes) const {
  auto inflater = std::make_unique<Inflater>(*this);
  char skipped[4096];
  for (uint64_t at = 0; at < from;) {
    uint64_t n = std::min<uint64_t>(sizeof(skipped), from - at);
    if (llvm::Error error = inflater->next(skipped, n))
      return error;
    at += n;
  }
  if (llvm::Error error = inflater->next(static_cast<char *>(to), bytes))
    return error;
  return from + bytes == size() ? inflater->finish() : llvm::Error::success();
}

/// Where the directory lies.
struct Directory {
  uint64_t count = 0, sizeBytes = 0, offset = 0;
};

/// The fields of zip64's own end, which stands before the common one.
llvm::Error readEnd64(const Bytes &file, uint64_t end, Directory &found) {
  char locator[20], record[56];
  if (end < sizeof(locator))
    return file.error("has no room for the end that a zip64 file has");
  if (llvm::Error error = file.read(end - sizeof(locator), locator, sizeof(locator)))
    return error;
  uint64_t at = read64le(locator + 8);
  if (!StringRef(locator, 4).starts_with("PK\6\7") || at > file.size() ||
      file.size() - at < sizeof(record))
    return file.error("its end does not lead to a zip64 directory: is it whole?");
  if (llvm::Error error = file.read(at, record, sizeof(record)))
    return error;
  if (!StringRef(record, 4).starts_with("PK\6\6"))
    return file.error("its end does not lead to a zip64 directory: is it whole?");
  found = {read64le(record + 32), read64le(record + 40), read64le(record + 48)};
  return llvm::Error::success();
}

/// Finds the end record, which a comment may follow.
llvm::Expected<Directory> findDirectory(const Bytes &file) {
  uint64_t n = std::min(file.size(), endBytes + maxCommentBytes);
  std::string tail(n, '\0');
  if (llvm::Error error = file.read(file.size() - n, tail.data(), n))
    return std::move(error);
  size_t at = StringRef(tail).rfind("PK\5\6");
  if (at == StringRef::npos || tail.size() - at < endBytes)
    return file.error("has no directory of a zip file at its end: is it whole?");
  const char *end = tail.data() + at;
  Directory found = {read16le(end + 10), read32le(end + 12), read32le(end + 16)};
  if (found.count == UINT16_MAX || found.sizeBytes == UINT32_MAX || found.offset == UINT32_MAX)
    if (llvm::Error error = readEnd64(file, file.size() - n + at, found))
      return std::move(error);
  if (found.offset > file.size() || found.sizeBytes > file.size() - found.offset ||
      found.count > found.sizeBytes / headerBytes)
    return file.error("its directory of " + Twine(found.count) + " members in " +
                      Twine(found.sizeBytes) + " bytes from byte " + Twine(found.offset) +
                      " does not fit its " + Twine(file.size()) + " bytes");
  return found;
}

/// zip64's 64-bit fields take the place of those that are all ones, in this order.
bool readExtra64(StringRef extra, Header &h) {
  uint64_t *fields[] = {&h.sizeBytes, &h.packedBytes, &h.local};
  while (extra.size() >= 4) {
    uint16_t id = read16le(extra.data()), n = read16le(extra.data() + 2);
    extra = extra.drop_front(4);
    if (n > extra.size())
      return false;
    StringRef data = extra.take_front(n);
    for (uint64_t *field : fields)
      if (id == 1 && *field == UINT32_MAX) {
        if (data.size() < 8)
          return false;
        *field = read64le(data.data());
        data = data.drop_front(8);
      }
    extra = extra.drop_front(n);
  }
  return true;
}

/// One member of the directory, which `rest` loses. False: it does not fit there.
bool readHeader(StringRef &rest, Header &h) {
  if (rest.size() < headerBytes || !rest.starts_with("PK\1\2"))
    return false;
  const char *at = rest.data();
  h.flags = read16le(at + 8), h.method = read16le(at + 10), h.crc = read32le(at + 16);
  h.packedBytes = read32le(at + 20), h.sizeBytes = read32le(at + 24), h.local = read32le(at + 42);
  uint64_t name = read16le(at + 28), extra = read16le(at + 30), comment = read16le(at + 32);
  rest = rest.drop_front(headerBytes);
  if (rest.size() < name + extra + comment)
    return false;
  h.name = rest.take_front(name).str();
  bool sound = readExtra64(rest.substr(name, extra), h);
  rest = rest.drop_front(name + extra + comment);
  return sound;
}

/// Where a member's bytes begin: after its local header, whose extra has a length of its own.
llvm::Expected<uint64_t> beginOf(const Bytes &file, const Header &h) {
  char local[localBytes];
  auto refuse = [&] {
    return file.error("its member " + printable(h.name) + " of " + Twine(h.packedBytes) +
                      " bytes from byte " + Twine(h.local) + " does not fit its " +
                      Twine(file.size()) + " bytes");
  };
  if (h.local > file.size() || file.size() - h.local < localBytes)
    return refuse();
  if (llvm::Error error = file.read(h.local, local, localBytes))
    return std::move(error);
  uint64_t begin = h.local + localBytes + read16le(local + 26) + read16le(local + 28);
  if (!StringRef(local, 4).starts_with("PK\3\4") || begin > file.size() ||
      file.size() - begin < h.packedBytes)
    return refuse();
  std::string name(read16le(local + 26), '\0');
  if (llvm::Error error = file.read(h.local + localBytes, name.data(), name.size()))
    return std::move(error);
  if (name != h.name)
    return file.error("its member " + printable(h.name) + " is called " + printable(name) +
                      " where it lies");
  return begin;
}

/// Error: what is not read, sizes that no packing leads to.
llvm::Error checkMember(const Bytes &file, const Header &h) {
  auto refuse = [&](const Twine &what) {
    return file.error("its member " + printable(h.name) + " " + what);
  };
  if (h.flags & 1)
    return refuse("is encrypted");
  if (h.method != 0 && h.method != Z_DEFLATED)
    return refuse("is packed by method " + Twine(h.method) +
                  ", read are 0 (stored) and 8 (deflated): save it with numpy.savez");
  // A deflated byte holds at most 1032: zlib, "An Extremely Detailed Look", maximum compression.
  bool fits = h.method == 0 ? h.sizeBytes == h.packedBytes : h.sizeBytes / 1032 <= h.packedBytes;
  if (!fits)
    return refuse("of " + Twine(h.packedBytes) + " bytes cannot unpack to " + Twine(h.sizeBytes));
  return llvm::Error::success();
}

} // namespace

llvm::Expected<std::vector<ZipMember>> readZip(std::shared_ptr<const Bytes> file) {
  auto found = findDirectory(*file);
  if (!found)
    return found.takeError();
  std::string text(found->sizeBytes, '\0');
  if (llvm::Error error = file->read(found->offset, text.data(), text.size()))
    return std::move(error);
  StringRef rest = text;
  std::vector<ZipMember> members;
  for (uint64_t i = 0; i < found->count; ++i) {
    Header h;
    if (!readHeader(rest, h))
      return file->error("its directory ends within member " + Twine(i + 1) + " of " +
                         Twine(found->count));
    if (llvm::Error error = checkMember(*file, h))
      return std::move(error);
    auto begin = beginOf(*file, h);
    if (!begin)
      return begin.takeError();
    if (h.method == 0)
      members.push_back({h.name, std::make_shared<Stored>(file, *begin, h)});
    else
      members.push_back({h.name, std::make_shared<Deflated>(file, *begin, h)});
  }
  return members;
}

} // namespace vetro
