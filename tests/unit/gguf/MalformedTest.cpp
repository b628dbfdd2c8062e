// Each way in which a container can be wrong, one change to a valid file each: header, metadata,
// tensor table, data ranges, limits, values.
#include "tests/unit/Growth.h"
#include "tests/unit/gguf/TinyGguf.h"

using namespace vetro;
using namespace vetro::test;
using gguf::ErrorKind;

static constexpr size_t versionAt = 4, tensorCountAt = 8, keyCountAt = 16;
static constexpr uint64_t numKeys = 19, numTensors = 6;

TEST_CASE("the tiny file is valid") {
  auto file = accepted(openBytes(tinyGguf()));
  CHECK(file->keys().size() == numKeys);
  CHECK(file->tensors().size() == numTensors);
}

TEST_CASE("header: too short") {
  CHECK(has(refused("", ErrorKind::Header), "the file is 0 bytes, a header needs 24"));
  CHECK(has(refused("GGUF", ErrorKind::Header), "the file is 4 bytes, a header needs 24"));
  for (size_t n = 5; n < 24; ++n)
    refused(llvm::StringRef(tinyGguf()).take_front(n), ErrorKind::Header);
}

TEST_CASE("header: magic and version") {
  std::string bytes = tinyGguf();
  CHECK(has(refused("GG\x1bL" + bytes.substr(4), ErrorKind::Header), "starts with \"GG\\x1bL\""));
  for (uint32_t version : {0u, 1u, 4u, 99u}) {
    put<uint32_t>(bytes, versionAt, version);
    CHECK(has(refused(bytes, ErrorKind::Header),
              "version " + std::to_string(version) + " found, versions 2 and 3 are read"));
  }
  put<uint32_t>(bytes, versionAt, 0x03000000);
  CHECK(has(refused(bytes, ErrorKind::Header), "big-endian"));
  put<uint32_t>(bytes, versionAt, 2);
  CHECK(accepted(openBytes(bytes))->version() == 2);
}

TEST_CASE("metadata: counts") {
  for (uint64_t count : {uint64_t(1) << 62, UINT64_MAX}) {
    std::string bytes = tinyGguf();
    put<uint64_t>(bytes, keyCountAt, count);
    std::string message = refused(bytes, ErrorKind::Metadata);
    CHECK(has(message, "count of keys is " + std::to_string(count)));
    CHECK(has(message, "at byte 16"));
  }
  std::string bytes = tinyGguf();
  put<uint64_t>(bytes, keyCountAt, numKeys + 1);
  // The first tensor becomes a key of type u16, and the table starts inside its record.
  CHECK(has(refused(bytes, ErrorKind::TensorTable), "name of tensor 0 of 6 needs"));
  for (uint64_t count : {uint64_t(1) << 60, UINT64_MAX}) {
    bytes = tinyGguf();
    put<uint64_t>(bytes, tensorCountAt, count);
    CHECK(has(refused(bytes, ErrorKind::TensorTable),
              "count of tensors is " + std::to_string(count)));
  }
}

TEST_CASE("tensor table: one record more or less") {
  std::string bytes = tinyGguf();
  put<uint64_t>(bytes, tensorCountAt, numTensors + 1);
  refused(bytes, ErrorKind::TensorTable);
  put<uint64_t>(bytes, tensorCountAt, numTensors - 1);
  CHECK(has(refused(bytes, ErrorKind::Data), "belong to no tensor"));
}

TEST_CASE("metadata: lengths past the end") {
  std::string bytes = tinyGguf();
  put<uint64_t>(bytes, keyAt(bytes, "t.u8"), uint64_t(1) << 40);
  CHECK(has(refused(bytes, ErrorKind::Metadata), "key 5 of 19 needs 1099511627776 bytes"));
  bytes = tinyGguf();
  put<uint64_t>(bytes, valueAt(bytes, "general.name"), uint64_t(1) << 63);
  CHECK(has(refused(bytes, ErrorKind::Metadata),
            "value of key \"general.name\" needs 9223372036854775808 bytes"));
  bytes = tinyGguf();
  put<uint64_t>(bytes, valueAt(bytes, "tokenizer.ggml.tokens") + 4, uint64_t(1) << 40);
  CHECK(has(refused(bytes, ErrorKind::Metadata), "has 1099511627776 elements of str"));
  bytes = tinyGguf();
  put<uint64_t>(bytes, valueAt(bytes, "t.floats") + 4, UINT64_MAX / 4 + 2); // times 4 overflows
  CHECK(has(refused(bytes, ErrorKind::Metadata), "elements of f32"));
  bytes = tinyGguf(); // the length of the second token
  put<uint64_t>(bytes, valueAt(bytes, "tokenizer.ggml.tokens") + 12 + 11, UINT64_MAX);
  CHECK(has(refused(bytes, ErrorKind::Metadata), "element 1 of 4 needs 18446744073709551615"));
}

/// A file with these keys and no tensor.
static std::string withKeys(std::initializer_list<std::string> keys) {
  std::string bytes("GGUF\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
  put<uint64_t>(bytes, keyCountAt, keys.size());
  for (const std::string &key : keys) {
    uint64_t length = key.size();
    bytes.append(reinterpret_cast<const char *>(&length), 8).append(key);
    bytes.append("\0\0\0\0\1", 5); // u8 1
  }
  bytes.append(32, '\0');
  return bytes.substr(0, (bytes.size() - 32 + 31) / 32 * 32);
}

TEST_CASE("metadata: names of keys") {
  accepted(openBytes(withKeys({"a", "b"})));
  CHECK(has(refused(withKeys({"a", ""}), ErrorKind::Metadata), "key 1 is empty"));
  CHECK(has(refused(withKeys({"a", "b", "a"}), ErrorKind::Metadata),
            "at byte 52: key \"a\" was given before at byte 24"));
  CHECK(has(refused(withKeys({"a\xff\x1b"}), ErrorKind::Metadata), "key \"a\\xff\\x1b\" is not"));
  CHECK(has(refused(withKeys({std::string(70000, 'k')}), ErrorKind::Limit), "65535 bytes"));
}

TEST_CASE("metadata: types") {
  std::string bytes = tinyGguf();
  put<uint32_t>(bytes, typeAt(bytes, "t.u8"), 99);
  CHECK(has(refused(bytes, ErrorKind::Metadata), "\"t.u8\" has type 99"));
  bytes = tinyGguf();
  put<uint32_t>(bytes, valueAt(bytes, "t.ints"), 77);
  CHECK(has(refused(bytes, ErrorKind::Metadata), "elements of type 77"));
  bytes = tinyGguf();
  put<uint32_t>(bytes, valueAt(bytes, "t.ints"), 9);
  CHECK(has(refused(bytes, ErrorKind::Metadata), "nested arrays are not supported"));
  std::string deep = withKeys({"a"}).substr(0, 24 + 9);
  for (int level = 0; level < 100000; ++level)
    deep.append("\x09\0\0\0\1\0\0\0\0\0\0\0", 12);
  deep.insert(24 + 9, "\x09\0\0\0", 4);
  CHECK(has(refused(deep, ErrorKind::Metadata), "array of arrays"));
}

TEST_CASE("metadata: bools are 0 or 1") {
  std::string bytes = tinyGguf();
  put<uint8_t>(bytes, valueAt(bytes, "t.bool"), 2);
  CHECK(has(refused(bytes, ErrorKind::Metadata), "\"t.bool\" is a bool with byte 2"));
  bytes = tinyGguf();
  put<uint8_t>(bytes, valueAt(bytes, "t.flags") + 12 + 1, 255);
  CHECK(has(refused(bytes, ErrorKind::Metadata), "element 1 is a bool with byte 255"));
}

TEST_CASE("metadata: alignment") {
  for (uint32_t alignment : {0u, 3u, 131072u, 1u << 31}) {
    std::string bytes = tinyGguf(64);
    put<uint32_t>(bytes, valueAt(bytes, "general.alignment"), alignment);
    CHECK(has(refused(bytes, ErrorKind::Metadata), "expected a power of two from 1 to 65536"));
  }
  std::string bytes = tinyGguf(64);
  put<uint32_t>(bytes, typeAt(bytes, "general.alignment"), 5);
  CHECK(has(refused(bytes, ErrorKind::Metadata), "has type i32, expected u32"));
  bytes = tinyGguf(32 + 32); // packed for 64, says 128
  put<uint32_t>(bytes, valueAt(bytes, "general.alignment"), 128);
  refused(bytes, ErrorKind::Data);
  bytes = tinyGguf(16); // packed for 16, says 64
  put<uint32_t>(bytes, valueAt(bytes, "general.alignment"), 64);
  refused(bytes, ErrorKind::Data);
}

TEST_CASE("all legal alignments are accepted, data is aligned to 8 bytes") {
  auto reference = accepted(openBytes(tinyGguf()));
  for (uint32_t alignment = 1; alignment <= 65536; alignment *= 2) {
    auto file = accepted(openBytes(tinyGguf(alignment)));
    for (const gguf::TensorInfo &tensor : file->tensors()) {
      CHECK(reinterpret_cast<uintptr_t>(file->data(tensor).data()) % 8 == 0);
      CHECK(file->data(tensor) == reference->data(*reference->findTensor(tensor.name)));
    }
  }
}

TEST_CASE("tensor table: names") {
  std::string bytes = tinyGguf();
  size_t at = tensorAt(bytes, "blk.0.attn_q.weight") + 8;
  std::string same = bytes; // blk.0.ffn_up.weight is as long
  std::memcpy(same.data() + at, "blk.0.ffn_up.weight", 19);
  CHECK(has(refused(same, ErrorKind::TensorTable), "\"blk.0.ffn_up.weight\" was given before"));
  std::string escape = bytes;
  escape[at] = '\x1b';
  CHECK(has(refused(escape, ErrorKind::TensorTable), "\"\\x1blk.0"));
  std::string latin = bytes;
  latin[at] = '\xff';
  CHECK(has(refused(latin, ErrorKind::TensorTable), "bytes of UTF-8"));
  std::string empty = bytes;
  empty.erase(at, 19);
  put<uint64_t>(empty, at - 8, 0);
  CHECK(has(refused(empty, ErrorKind::TensorTable), "name of tensor 1 is \"\""));
  std::string longName = bytes;
  longName.insert(at, 64 - 19, 'x');
  put<uint64_t>(longName, at - 8, 64);
  CHECK(has(refused(longName, ErrorKind::TensorTable), "expected 1 to 63 bytes"));
}

TEST_CASE("tensor table: dimensions") {
  std::string bytes = tinyGguf();
  size_t at = dimsAt(bytes, "token_embd.weight");
  auto with = [&](uint32_t nDims, std::initializer_list<uint64_t> ne) {
    std::string changed = bytes;
    put<uint32_t>(changed, at, nDims);
    size_t d = 0;
    for (uint64_t n : ne)
      put<uint64_t>(changed, at + 4 + 8 * d++, n);
    return changed;
  };
  CHECK(has(refused(with(5, {}), ErrorKind::TensorTable), "has 5 dimensions"));
  CHECK(has(refused(with(0, {}), ErrorKind::TensorTable), "has 0 dimensions"));
  CHECK(has(refused(with(2, {64, UINT64_MAX}), ErrorKind::TensorTable), "dimension 1 of tensor"));
  CHECK(has(refused(with(2, {64, UINT64_MAX}), ErrorKind::TensorTable), "is -1,"));
  CHECK(has(refused(with(2, {0, 4}), ErrorKind::TensorTable), "is 0, expected at least 1"));
  CHECK(has(refused(with(2, {uint64_t(1) << 32, uint64_t(1) << 32}), ErrorKind::TensorTable),
            "element count of tensor \"token_embd.weight\" overflows"));
  CHECK(has(refused(with(2, {(uint64_t(1) << 31) + 1, uint64_t(1) << 31}), ErrorKind::TensorTable),
            "byte size of tensor \"token_embd.weight\" overflows"));
  CHECK(has(refused(with(1, {uint64_t(1) << 62}).erase(at + 12, 8), ErrorKind::TensorTable),
            "byte size"));
}

TEST_CASE("tensor table: types") {
  std::string bytes = tinyGguf();
  size_t at = dimsAt(bytes, "token_embd.weight") + 4 + 16;
  auto with = [&](uint32_t type) {
    std::string changed = bytes;
    put<uint32_t>(changed, at, type);
    return changed;
  };
  CHECK(has(refused(with(99), ErrorKind::TensorTable), "type 99, which is unknown"));
  CHECK(has(refused(with(UINT32_MAX), ErrorKind::TensorTable), "type -1, which is unknown"));
  for (auto [id, name] : {std::pair(4u, "q4_2"), {31u, "q4_0_4_4"}, {38u, "iq4_nl_8_8"}})
    CHECK(has(refused(with(id), ErrorKind::TensorTable), std::string("(") + name + "), which was"));
  CHECK(has(refused(with(12), ErrorKind::TensorTable),
            "rows of 64 elements, type q4_K needs a multiple of 256"));
}

TEST_CASE("data: offsets") {
  std::string bytes = tinyGguf();
  size_t at = dimsAt(bytes, "blk.0.attn_q.weight") + 4 + 16 + 4;
  auto with = [&](uint64_t offset) {
    std::string changed = bytes;
    put<uint64_t>(changed, at, offset);
    return changed;
  };
  CHECK(has(refused(with(1025), ErrorKind::Data), "expected a multiple of the alignment 32"));
  std::string overlap = refused(with(992), ErrorKind::Data);
  CHECK(has(overlap, "\"blk.0.attn_q.weight\" (bytes 992 to 1196 of the data section) overlaps"));
  CHECK(has(overlap, "\"token_embd.weight\" (bytes 0 to 1024"));
  CHECK(has(refused(with(1 << 20), ErrorKind::Data), "past the end of the file"));
  CHECK(has(refused(with(UINT64_MAX - 31), ErrorKind::Data), "overflows"));
}

TEST_CASE("cut anywhere, the file is refused") {
  std::string bytes = tinyGguf();
  size_t padding = 32 - 18; // after the last tensor: may be absent
  TempDir dir;
  std::string path = dir.file("cut.gguf");
  writeFile(path, bytes);
  for (size_t n = bytes.size() - padding; n-- > 0;) {
    REQUIRE(truncate(path.c_str(), static_cast<off_t>(n)) == 0);
    auto cut = gguf::File::open(path);
    INFO(n);
    REQUIRE_FALSE(static_cast<bool>(cut));
    llvm::consumeError(cut.takeError());
  }
  accepted(openBytes(llvm::StringRef(bytes).drop_back(padding)));
  CHECK(has(refused(llvm::StringRef(bytes).drop_back(padding + 1), ErrorKind::Data),
            "ends 1 bytes past the end of the file"));
  size_t inKeys = keyAt(bytes, "t.ints") + 3, inTable = dimsAt(bytes, "output.weight") + 2;
  CHECK(has(refused(llvm::StringRef(bytes).take_front(inKeys), ErrorKind::Metadata),
            "at byte " + std::to_string(inKeys - 3) + ": key 15 of 19 needs 8 bytes, 3 are left"));
  CHECK(has(refused(llvm::StringRef(bytes).take_front(inTable), ErrorKind::TensorTable),
            "dimensions of tensor \"output.weight\" needs 4 bytes, 2 are left"));
}

TEST_CASE("data: bytes that no tensor claims") {
  gguf::OpenOptions lenient;
  lenient.allowTrailing = true;
  std::string trailing = tinyGguf() + std::string(1 << 20, 'x');
  CHECK(has(refused(trailing, ErrorKind::Data), "1048576 bytes at the end of the file belong to"));
  accepted(openBytes(trailing, lenient));
  std::string gap = tinyGguf(); // the last tensor moves on, into new bytes
  size_t at = dimsAt(gap, "output.weight") + 4 + 24 + 4;
  uint64_t offset;
  std::memcpy(&offset, gap.data() + at, 8);
  put<uint64_t>(gap, at, offset + 32);
  gap.append(32, '\0');
  CHECK(has(refused(gap, ErrorKind::Data), "32 bytes before tensor \"output.weight\" belong to"));
  accepted(openBytes(gap, lenient));
}

/// A file of many keys and tensors of one F32 each.
static std::string many(int keys, int tensors) {
  static const uint8_t zero[4] = {};
  gguf::Writer writer;
  for (int i = 0; i < keys; ++i)
    writer.add<uint32_t>("key." + std::to_string(i), 1);
  for (int i = 0; i < tensors; ++i)
    writer.addTensor("t." + std::to_string(i), Format::F32, {1}, zero);
  return bytesOf(writer);
}

TEST_CASE("limits: counts of keys and tensors") {
  CHECK(has(refused(many(200000, 0), ErrorKind::Limit), "200000 keys found, at most 65536"));
  CHECK(has(refused(many(0, 100000), ErrorKind::Limit), "100000 tensors found, at most 65536"));
  accepted(openBytes(many(65536, 1)));
  refused(many(65537, 1), ErrorKind::Limit);
  gguf::OpenOptions unlimited;
  unlimited.ignoreLimits = true;
  CHECK(accepted(openBytes(many(70000, 70000), unlimited))->tensors().size() == 70000);
}

TEST_CASE("keys and tensors are read in linear time", "[speed]") {
  TempDir dir;
  auto ms = [&](size_t n) {
    writeFile(dir.file("many.gguf"), many(static_cast<int>(n), static_cast<int>(n)));
    return msToOpen(dir.file("many.gguf"));
  };
  auto [once, twice] = leastTimes(ms, 10000, 3.0);
  INFO("10,000 keys and tensors: " << once << " ms, twice as many: " << twice << " ms");
  // Linear is 2, and a little more as tables leave the caches: 2.4 here, 3.1 at 30,000, where most
  // have left them; quadratic is 4.
  CHECK(twice <= 3.0 * once);
}

TEST_CASE("limits: metadata bytes") {
  TempDir dir;
  std::string head = withKeys({"a"}).substr(0, 24 + 9);
  head.append("\x09\0\0\0\0\0\0\0", 8); // array of u8 ...
  uint64_t count = 300 << 20;           // ... 300 MiB, sparse
  head.append(reinterpret_cast<const char *>(&count), 8);
  writeFile(dir.file("big.gguf"), head);
  REQUIRE(truncate(dir.file("big.gguf").c_str(), (310 << 20) / 32 * 32) == 0);
  CHECK(has(refused(gguf::File::open(dir.file("big.gguf")), ErrorKind::Limit),
            "budget of 268435456 bytes"));
}

TEST_CASE("values: scales are finite") {
  struct Case {
    const char *tensor;
    size_t block, field;
    const char *text;
  };
  for (Case c : {Case{"blk.0.attn_q.weight", 34 * 5, 0, "row 2, block 1: its q8_0 scale"},
                 Case{"blk.0.ffn_up.weight", 144, 0, "row 1, block 0: its q4_K scale"},
                 Case{"blk.0.ffn_up.weight", 144, 2, "row 1, block 0: its q4_K minimum"},
                 Case{"output.weight", 0, 0, "row 0, block 0: its iq4_nl scale"}}) {
    for (uint16_t bits : {0x7c00, 0xfc00, 0x7e01}) {
      std::string bytes = tinyGguf();
      auto whole = accepted(openBytes(bytes));
      const gguf::TensorInfo *tensor = whole->findTensor(c.tensor);
      size_t at = bytes.size() - 32 - whole->findTensor("output.weight")->offset + tensor->offset;
      put<uint16_t>(bytes, at + c.block + c.field, bits);
      auto file = accepted(openBytes(bytes)); // the scan is the caller's, or checkTensors'
      std::string message = llvm::toString(gguf::checkScales(*file, *tensor));
      CHECK(has(message, c.text));
      CHECK(has(message, bits == 0x7e01 ? "is NaN" : "is infinite"));
      CHECK(llvm::toString(gguf::checkScales(*file, *tensor, 0, 0)) == "");
      gguf::OpenOptions check;
      check.checkTensors = true;
      CHECK(has(refused(bytes, ErrorKind::Values, check), c.text));
    }
  }
}

TEST_CASE("values: weights are finite with checkTensors") {
  std::string bytes = tinyGguf();
  size_t data = bytes.size() - 32 - accepted(openBytes(bytes))->findTensor("output.weight")->offset;
  put<uint32_t>(bytes, data + 4 * (64 * 2 + 7), 0x7fc00000);
  accepted(openBytes(bytes));
  gguf::OpenOptions check;
  check.checkTensors = true;
  CHECK(has(refused(bytes, ErrorKind::Values, check),
            "tensor \"token_embd.weight\", row 2, element 7: its f32 weight"));
}
