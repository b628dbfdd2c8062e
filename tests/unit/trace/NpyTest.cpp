// NumPy's files: those that NumPy wrote are read, and each way to break one gives its own line.
#include "runtime/trace/TensorFile.h"
#include "tests/unit/TestData.h"
#include "tests/unit/gguf/TinyGguf.h"
#include <filesystem>
#include <fstream>
#include <random>
#include <zlib.h>

using namespace vetro;
using namespace vetro::test;

namespace {
using Floats = std::vector<float>;
using Shape = std::vector<int64_t>;

// By NumPy 2.4.6: x = arange(6).reshape(2, 3) / 4 in several types, and ids.
std::string numpyFile(const std::string &name) {
  return sourceDir() + "/tests/unit/trace/numpy/" + name;
}

std::string contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

const Floats quarters = {0, 0.25, 0.5, 0.75, 1, 1.25};

/// A .npy file of this header.
std::string npy(const std::string &header, const std::string &data) {
  return std::string("\x93NUMPY\1\0", 8) + char(header.size() & 255) + char(header.size() >> 8) +
         header + data;
}
std::string npy(const std::string &descr, const std::string &order, const std::string &shape,
                const std::string &data) {
  return npy("{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n",
             data);
}
const std::string two = npy("'<f4'", "False", "(2,)", std::string(8, '\1'));

std::string message(const std::string &bytes) {
  static TempDir dir; // one for all, and no file cut: both would wait for the disk
  std::filesystem::remove(dir.file("a.npy"));
  writeFile(dir.file("a.npy"), bytes);
  auto opened = TensorFile::open(dir.file("a.npy"));
  if (!opened)
    return llvm::toString(opened.takeError());
  for (const TensorEntry &entry : (*opened)->entries())
    if (auto t = (*opened)->read(entry.name); !t)
      return "read: " + llvm::toString(t.takeError());
  return "accepted";
}

struct Case {
  std::string bytes, found;
};
void expectAll(llvm::ArrayRef<Case> cases) {
  for (const Case &c : cases) {
    std::string text = message(c.bytes);
    INFO(text);
    CHECK(has(text, c.found));
    CHECK(text.find('\n') == std::string::npos);
  }
}

/// The number of type T at `at` replaced.
template <typename T> std::string with(std::string bytes, size_t at, T value) {
  put(bytes, at, value);
  return bytes;
}

} // namespace

TEST_CASE("arrays that NumPy put into one file are read") {
  for (const char *name : {"stored.npz", "deflated.npz"}) {
    INFO(name);
    auto file = llvm::cantFail(TensorFile::open(numpyFile(name)));
    CHECK(file->metadata("ids") == "7,300,2");
    CHECK(file->find("ids") == nullptr);
    REQUIRE(file->entries().size() == 7);
    for (const char *array : {"x", "turned", "big", "half"}) {
      NamedTensor t = llvm::cantFail(file->read(array));
      INFO(array);
      CHECK(t.shape == Shape{2, 3});
      CHECK(t.data == quarters);
    }
    CHECK(llvm::cantFail(file->read("flags")).data == Floats{0, 0, 0, 1, 1, 1});
    NamedTensor scalar = llvm::cantFail(file->read("scalar"));
    CHECK(scalar.shape.empty());
    CHECK(scalar.data == Floats{2.5});
    CHECK(llvm::cantFail(file->read("none")).shape == Shape{0, 4});
  }
}

TEST_CASE("one array of NumPy's is called as its file") {
  auto turned = llvm::cantFail(TensorFile::open(numpyFile("turned.npy"))); // column-major, >i2
  NamedTensor t = llvm::cantFail(turned->read("turned"));
  CHECK(t.shape == Shape{2, 3, 4});
  Floats counted(24);
  for (int i = 0; i < 24; ++i)
    counted[i] = float(i);
  CHECK(t.data == counted);
  auto second = llvm::cantFail(TensorFile::open(numpyFile("version2.npy")));
  CHECK(llvm::cantFail(second->read("version2")).data == quarters);
}

TEST_CASE("a folder of arrays, in order of their names") {
  TempDir dir;
  writeFile(dir.file("blk.0.q.npy"), two);
  writeFile(dir.file("a.npy"), npy("'<f4'", "False", "()", std::string(4, '\0')));
  writeFile(dir.file("ids.npy"),
            npy("'>i4'", "False", "(1, 2)", std::string("\0\0\0\1\0\0\1\0", 8)));
  writeFile(dir.file("notes.txt"), "not an array");
  auto folder = llvm::cantFail(TensorFile::open(dir.file("")));
  REQUIRE(folder->entries().size() == 2);
  CHECK(folder->entries()[0].name == "a");
  CHECK(folder->entries()[1].name == "blk.0.q");
  CHECK(folder->metadata("ids") == "1,256");
  CHECK(llvm::cantFail(folder->read("a")).data == Floats{0});
  writeFile(dir.file("blk.0.q.npy"), two.substr(0, two.size() - 1));
  CHECK(has(llvm::toString(folder->read("blk.0.q").takeError()), "it was cut while it was read"));
  CHECK(has(llvm::toString(TensorFile::open(dir.file("")).takeError()), "blk.0.q.npy"));
  std::filesystem::create_directory(dir.file("empty"));
  CHECK(has(llvm::toString(TensorFile::open(dir.file("empty")).takeError()),
            "is a folder without .npy files"));
}

TEST_CASE("each way to break an array of NumPy's gives its own line") {
  std::string plain = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
  std::string eight(8, '\1');
  REQUIRE(message(two) == "accepted");
  REQUIRE(message(npy(plain, eight)) == "accepted");
  REQUIRE(message(npy("{'shape':(2L,),\"fortran_order\":True,'descr':'<f4'}", eight)) ==
          "accepted");
  expectAll({{two.substr(0, 6), "is 6 bytes"},
             {two.substr(0, 40), "announces a header of"},
             {with<uint16_t>(two, 8, 65535), "announces a header of 65535 bytes"},
             {with<char>(two, 6, 4), "versions 1 to 3"},
             {with<char>(two, 6, 0), "versions 1 to 3"},
             {with<uint32_t>(with<char>(two, 6, 2), 8, UINT32_MAX), "header of 4294967295 bytes"},
             {two.substr(0, two.size() - 1), "has 7 bytes of numbers"},
             {two + "x", "has 9 bytes of numbers"},
             {npy("'|O'", "False", "(1,)", eight), "Python objects, which are pickled"},
             {npy("'<c8'", "False", "(1,)", eight), "has the type \"<c8\""},
             {npy("'<f16'", "False", "(1,)", eight + eight), "has the type \"<f16\""},
             {npy("'<f1'", "False", "(8,)", eight), "has the type"},
             {npy("'<u99999999999'", "False", "(8,)", eight), "has the type"},
             {npy("'|V2'", "False", "(4,)", eight), "has the type \"|V2\""},
             {npy("''", "False", "(4,)", eight), "has the type \"\""},
             {npy("[('a', '<f4'), ('b', '<f4')]", "False", "(1,)", eight), "has named fields"},
             {npy("'<f4'", "Maybe", "(2,)", eight), "is not descr, fortran_order and shape"},
             {npy("'<f4'", "False", "(-2,)", eight), "is not descr"},
             {npy("'<f4'", "False", "(2", eight), "is not descr"},
             {npy("'<f4'", "False", "(2 2)", eight), "is not descr"},
             {npy("'<f4'", "False", "2", eight), "is not descr"},
             {npy("'<f4'", "False", "(99999999999999999999,)", eight), "is not descr"},
             {npy("'<f4'", "False", "(4294967296, 4294967296)", ""), "has 0 bytes of numbers"},
             {npy("'<f4'", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2)", eight), "8 bytes of"},
             {npy(plain + plain, eight), "is not descr"},
             {npy("{'descr': '<f4', 'shape': (2,)}", eight), "is not descr"},
             {npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", eight),
              "is not descr"},
             {npy("{'descr': __import__('os')}\x1b[31m\n", ""), "\\1B[31m\\0A"},
             {npy("", ""), "is 10 bytes"},
             {npy("", "xx"), "is not descr"},
             {contentOf(numpyFile("objects.npy")), "Python objects, which are pickled"}});
}

TEST_CASE("pickles are refused, whatever holds them") {
  expectAll({{std::string("\x80\4\x95\x1f\0\0\0\0\0\0\0}", 12), "is a pickle, which could run"},
             {std::string("\x80\2\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 16), "is a pickle"},
             {std::string("\x80\2}", 3), "is a pickle"}});
}

// ---- zip ----

namespace {
/// Of a member as the files say it; tests make them lie.
struct Member {
  std::string name, packed;
  uint32_t sizeBytes, crc;
  uint16_t method = 0, flags = 0;
  std::string extra = ""; ///< of its place in the directory
};

Member stored(const std::string &name, const std::string &data) {
  return {name, data, uint32_t(data.size()),
          uint32_t(crc32(0, reinterpret_cast<const Bytef *>(data.data()), data.size()))};
}

Member deflated(const std::string &name, const std::string &data) {
  Member m = stored(name, data);
  m.method = Z_DEFLATED;
  m.packed.assign(compressBound(data.size()), '\0');
  z_stream z = {};
  REQUIRE(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  z.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(data.data())), z.avail_in = data.size();
  z.next_out = reinterpret_cast<Bytef *>(m.packed.data()), z.avail_out = m.packed.size();
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  m.packed.resize(z.total_out);
  deflateEnd(&z);
  return m;
}

template <typename T> void add(std::string &to, T value) {
  to.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

std::string zip(const std::vector<Member> &members, const std::string &comment = "") {
  std::string file, directory;
  for (const Member &m : members) {
    std::string common;
    add<uint16_t>(common, 20), add(common, m.flags), add(common, m.method),
        add<uint32_t>(common, 0);
    add(common, m.crc), add<uint32_t>(common, m.packed.size()), add(common, m.sizeBytes);
    add<uint16_t>(common, m.name.size()), add<uint16_t>(common, 0);
    directory += std::string("PK\1\2\0\0", 6) + common + std::string(10, '\0');
    add<uint32_t>(directory, file.size());
    put<uint16_t>(directory, directory.size() - 16, m.extra.size());
    directory += m.name + m.extra;
    file += "PK\3\4" + common + m.name + m.packed;
  }
  uint32_t begin = uint32_t(file.size());
  file += directory + std::string("PK\5\6\0\0\0\0", 8);
  add<uint16_t>(file, members.size()), add<uint16_t>(file, members.size());
  add<uint32_t>(file, directory.size()), add(file, begin), add<uint16_t>(file, comment.size());
  return file + comment;
}

std::string broken(Member m, llvm::function_ref<void(Member &)> change) {
  change(m);
  return zip({m});
}

/// One member whose sizes are in a zip64 field of the directory, the last `lacking` bytes of it
/// away.
std::string zip64Member(Member m, uint64_t sizeBytes, size_t lacking = 0) {
  add<uint16_t>(m.extra, 0x9999), add<uint16_t>(m.extra, 1), m.extra += '?'; // of another program
  add<uint16_t>(m.extra, 1), add<uint16_t>(m.extra, 16 - lacking);
  add<uint64_t>(m.extra, sizeBytes), add<uint64_t>(m.extra, m.packed.size());
  m.extra.resize(m.extra.size() - lacking);
  std::string bytes = zip({m});
  size_t directory = bytes.size() - 22 - 46 - m.name.size() - m.extra.size();
  return with<uint32_t>(with(bytes, directory + 20, UINT32_MAX), directory + 24, UINT32_MAX);
}

/// The same file with zip64's end before its own, whose fields are all ones.
std::string zip64(std::string file) {
  size_t end = file.size() - 22;
  std::string record = "PK\6\6", locator = std::string("PK\6\7\0\0\0\0", 8);
  add<uint64_t>(record, 44), add<uint32_t>(record, 45), add<uint64_t>(record, 0);
  for (uint64_t n : {uint64_t(file[end + 10]), uint64_t(file[end + 10])})
    add(record, n);
  uint32_t size, offset;
  std::memcpy(&size, &file[end + 12], 4), std::memcpy(&offset, &file[end + 16], 4);
  add<uint64_t>(record, size), add<uint64_t>(record, offset);
  add<uint64_t>(locator, end), add<uint32_t>(locator, 1);
  std::string own = file.substr(end);
  own.replace(8, 12, std::string(12, '\xff'));
  return file.substr(0, end) + record + locator + own;
}
} // namespace

TEST_CASE("zip files are read as they may be") {
  std::string big = npy("'<f4'", "False", "(30000,)", std::string(120000, '\1'));
  for (const std::string &bytes :
       {zip({}), zip({stored("a.npy", two), deflated("b.npy", big)}),
        zip({deflated("a.npy", two)}, "a comment of PK"), zip64(zip({deflated("a.npy", two)})),
        zip64Member(stored("a.npy", two), two.size()),
        zip64Member(deflated("a.npy", two), two.size())})
    CHECK(message(bytes) == "accepted");
}

TEST_CASE("a member's name is a name and no path") {
  TempDir dir;
  writeFile(dir.file("a.npz"), zip({stored("../../a.npy", two), deflated("/b.npy", two)}));
  auto file = llvm::cantFail(TensorFile::open(dir.file("a.npz")));
  REQUIRE(file->entries().size() == 2);
  CHECK(file->entries()[0].name == "../../a");
  CHECK(file->entries()[1].name == "/b");
  CHECK(llvm::cantFail(file->read("../../a")).data == llvm::cantFail(file->read("/b")).data);
}

TEST_CASE("a member that is not what its directory summed is refused, stored or deflated") {
  std::string none = npy("'<f4'", "False", "(0,)", ""), one = npy("'<f4'", "False", "(1,)", "1234");
  auto change = [](Member m, llvm::function_ref<void(Member &)> change) {
    return Case{broken(m, change), "its member \"a.npy\" is damaged"};
  };
  auto sum = [](Member &m) { m.crc ^= 1; };
  // An array of one number, of which the directory has sum and size, with another number behind it.
  Member longer = deflated("a.npy", one + "5678");
  longer.sizeBytes = stored("", one).sizeBytes, longer.crc = stored("", one).crc;
  expectAll({change(stored("a.npy", two), sum), change(deflated("a.npy", two), sum),
             change(stored("a.npy", none), sum), change(deflated("a.npy", none), sum),
             change(stored("a.npy", two), [](Member &m) { m.packed.back() ^= 1; }),
             change(stored("a.npy", two), [](Member &m) { m.packed[m.packed.find("f4")] = 'i'; }),
             change(deflated("a.npy", two), [](Member &m) { m.packed += "more"; }),
             change(longer, [](Member &) {})});
}

TEST_CASE("each lie of a zip file gives its own line") {
  std::string good = zip({stored("a.npy", two)});
  size_t directory = good.size() - 22 - 46 - 5;
  auto wrong = [](llvm::function_ref<void(Member &)> change) {
    return broken(deflated("a.npy", two), change);
  };
  std::string far = zip64(good);
  expectAll({
      {good.substr(0, good.size() - 1), "has no directory of a zip file at its end"},
      {good.substr(0, 20), "has no directory"},
      {with<uint16_t>(good, good.size() - 12, 2), "its directory of 2 members"},
      {with<uint32_t>(good, good.size() - 10, 1000000), "does not fit its"},
      {with<uint32_t>(good, good.size() - 6, 1000000), "does not fit its"},
      {with<uint32_t>(good, good.size() - 6, 3), "ends within member 1 of 1"},
      {with<uint16_t>(good, directory + 28, 60000), "ends within member 1 of 1"},
      {with<uint32_t>(good, directory + 42, 1), "its member \"a.npy\" of"},
      {with<uint32_t>(good, directory + 42, 1000000), "does not fit its"},
      {with<uint32_t>(with<uint32_t>(good, directory + 20, 1000000), directory + 24, 1000000),
       "its member \"a.npy\" of 1000000 bytes"},
      {with<uint32_t>(good, directory + 20, 5), "of 5 bytes cannot unpack to"},
      {with<uint64_t>(far, far.size() - 22 - 12, UINT64_MAX), "does not lead to a zip64 directory"},
      {with<uint64_t>(far, far.size() - 22 - 12, 0), "does not lead to a zip64 directory"},
      {with<uint16_t>(good, good.size() - 12, UINT16_MAX), "zip64 directory"},
      {wrong([](Member &m) { m.flags = 1; }), "is encrypted"},
      {wrong([](Member &m) { m.method = 12; }), "is packed by method 12"},
      {wrong([](Member &m) { m.sizeBytes = UINT32_MAX - 1; }), "cannot unpack to 4294967294"},
      {wrong([](Member &m) { m.sizeBytes += 4; }), "has 12 bytes of numbers"},
      {wrong([](Member &m) { m.crc ^= 1; }), "read: "},
      {wrong([](Member &m) { m.packed[0] = '\xff'; }), "is damaged"},
      {wrong([](Member &m) { m.packed.resize(m.packed.size() - 3); }), "is damaged"},
      {with<char>(good, 30, 'b'), "its member \"a.npy\" is called \"b.npy\" where it lies"},
      {zip({stored("a.txt", two)}), "its member \"a.txt\" is no .npy array"},
      {zip({stored("a.npy", two), stored("a.npy", two)}), "has the array \"a\" twice"},
      {zip({stored("x/data.pkl", two)}), "holds a pickle, \"x/data.pkl\", as torch.save writes"},
      {zip({stored("a.npy", "x")}), "its member \"a\" is 1 bytes"},
      {zip({stored("\x1b[1m.npy", two), stored("\x1b[1m.npy", two)}), "\\1B[1m"},
  });
}

TEST_CASE("each lie of a zip64 member gives its own line") {
  uint64_t size = two.size();
  expectAll(
      {{zip64Member(stored("a.npy", two), size, 8), "ends within member 1 of 1"},
       {zip64Member(stored("a.npy", two), size + (uint64_t(1) << 32)), "cannot unpack to 4294967"},
       {zip64Member(deflated("a.npy", two), UINT64_MAX), "unpack to 18446744073709551615"}});
}

TEST_CASE("10,000 edited files of NumPy's open or are refused with one line") {
  const std::string originals[] = {two, contentOf(numpyFile("stored.npz")),
                                   contentOf(numpyFile("deflated.npz"))};
  std::mt19937 random(5);
  int accepted = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string bytes = originals[i % 3];
    for (unsigned n = 1 + random() % 3; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0)
      bytes.resize(random() % bytes.size());
    std::string text = message(bytes);
    accepted += text == "accepted";
    if (text.find_first_of("\n\x1b") != std::string::npos || text.size() > 900)
      FAIL("edit " << i << ": " << text);
  }
  CHECK(accepted > 100);
}
