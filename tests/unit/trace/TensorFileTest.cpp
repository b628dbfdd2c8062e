// Files of tensors: what is written comes back; what breaks the format's rules is refused.
#include "runtime/trace/TensorFile.h"
#include "tests/unit/TestData.h"
#include "tests/unit/gguf/TinyGguf.h"
#include <filesystem>
#include <random>

using namespace vetro;
using namespace vetro::test;

/// A file of this header and so many bytes of data.
static std::string file(const std::string &header, size_t dataBytes) {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<char *>(&length), 8) + header + std::string(dataBytes, '\1');
}

static std::string tensor(const std::string &name, const std::string &rest) {
  return "\"" + name + "\":{" + rest + "}";
}

static llvm::Expected<std::unique_ptr<TensorFile>> openText(const std::string &bytes) {
  TempDir dir;
  writeFile(dir.file("t.safetensors"), bytes);
  return TensorFile::open(dir.file("t.safetensors"));
}

static std::string message(const std::string &bytes) {
  auto opened = openText(bytes);
  return opened ? "accepted" : llvm::toString(opened.takeError());
}

TEST_CASE("tensors that were written are read") {
  TempDir dir;
  std::error_code code;
  std::vector<NamedTensor> tensors = {
      {"b", {2, 1}, {1.5f, -0.0f}}, {"a", {3}, {1e-40f, 2, 3}}, {"none", {0, 4}, {}}};
  {
    llvm::raw_fd_ostream out(dir.file("t"), code);
    writeSafetensors(out, tensors, {{"ids", "1,2"}, {"label:a", "ran"}});
  }
  auto opened = llvm::cantFail(TensorFile::open(dir.file("t")));
  REQUIRE(opened->entries().size() == 3);
  CHECK(opened->entries()[0].name == "b"); // in the order of the data
  CHECK(opened->metadata("ids") == "1,2");
  CHECK(opened->metadata("nothing").empty());
  for (const NamedTensor &t : tensors) {
    NamedTensor back = llvm::cantFail(opened->read(t.name));
    CHECK(back.shape == t.shape);
    CHECK(back.data == t.data);
  }
  CHECK(has(llvm::toString(opened->read("c").takeError()), "has no tensor \"c\""));
}

TEST_CASE("each element type is widened to F32") {
  struct Case {
    const char *dtype;
    std::string bytes;
    float value;
  };
  const Case cases[] = {{"F64", std::string("\0\0\0\0\0\0\xf8\xbf", 8), -1.5f},
                        {"F32", std::string("\0\0\xc0\xbf", 4), -1.5f},
                        {"F16", std::string("\0\xbe", 2), -1.5f},
                        {"BF16", std::string("\xc0\xbf", 2), -1.5f},
                        {"I64", std::string("\xfe\xff\xff\xff\xff\xff\xff\xff", 8), -2},
                        {"I8", "\xfe", -2},
                        {"U16", std::string("\xfe\xff", 2), 65534},
                        {"BOOL", "\1", 1}};
  for (const Case &c : cases) {
    INFO(c.dtype);
    std::string size = std::to_string(c.bytes.size());
    std::string bytes =
        file("{" +
                 tensor("x", std::string("\"dtype\":\"") + c.dtype +
                                 "\",\"shape\":[1],\"data_offsets\":[0," + size + "]") +
                 "}",
             0);
    auto opened = llvm::cantFail(openText(bytes + c.bytes));
    CHECK(llvm::cantFail(opened->read("x")).data == std::vector<float>{c.value});
  }
}

static const std::string two = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";

TEST_CASE("each way to break the rules gives its own line") {
  struct Case {
    std::string bytes, found;
  };
  auto one = [](const std::string &rest) { return "{" + tensor("x", rest) + "}"; };
  uint64_t huge = 1'000'000'000;
  const Case cases[] = {
      {"", "is 0 bytes"},
      {std::string("\2\0\0", 3), "is 3 bytes"},
      {std::string(reinterpret_cast<char *>(&huge), 8) + "{}",
       "announce a header of 1000000000 bytes"},
      {std::string(8, '\xff') + "{}", "announce a header of 18446744073709551615 bytes"},
      {std::string("\x09\0\0\0\0\0\0\0{}", 10), "header of 9 bytes does not fit its 10 bytes"},
      {file("[]", 0), "no JSON object"},
      {file("{\"x\":", 0), "no JSON object"},
      {file("{" + tensor("x", two) + "," + tensor("x", two) + "}", 8), "the key \"x\" twice"},
      {file(one("\"dtype\":\"F32\""), 0), "has no dtype, shape and data_offsets"},
      {file(one(R"("dtype":"F128","shape":[1],"data_offsets":[0,16])"), 16), "has the type"},
      {file(one(R"("dtype":7,"shape":[1],"data_offsets":[0,16])"), 16), "has the type"},
      {file(one(R"("dtype":"F32","shape":[-1],"data_offsets":[0,8])"), 8), "no list of at most 16"},
      {file(one(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), 8), "not [begin, end]"},
      {file(one(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), 8), "has 8 bytes, which"},
      {file(one(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])"), 0),
       "has 0 bytes, which"},
      {file(one(R"("dtype":"F32","shape":[2],"data_offsets":[4,12])"), 12), "begins at byte 4"},
      {file("{" + tensor("x", two) + "," +
                tensor("y", R"("dtype":"F32","shape":[1],"data_offsets":[4,8])") + "}",
            8),
       "begins at byte 4"},
      {file(one(two), 7), "need 8 bytes of data, it has 7"},
      {file(one(two), 9), "has 1 bytes after its last tensor"},
      {file(R"({"__metadata__":{"a":1}})", 0), "not of texts only"},
      {file("{" + tensor("\\u001b[31m\\n", R"("dtype":"Q")") + "}", 0), "tensor \"\\1B[31m\\0A\""}};
  for (const Case &c : cases) {
    std::string text = message(c.bytes);
    INFO(text);
    CHECK(has(text, c.found));
    CHECK(text.find('\n') == std::string::npos);
  }
}

TEST_CASE("the damaged files of the collection") {
  if (dataDir().empty())
    return skip("no test data; set VETRO_TEST_DATA");
  auto opened = [](const std::string &name) {
    auto file = TensorFile::open(dataDir() + "/malformed/safetensors/" + name + ".safetensors");
    return file ? std::string("accepted") : llvm::toString(file.takeError());
  };
  CHECK(has(opened("gap"), "begins at byte 1"));
  CHECK(has(opened("unknown-dtype"), "F128"));
  CHECK(opened("header-only") == "accepted");
}

TEST_CASE("10,000 edited files open or are refused with one line") {
  std::string original =
      file("{" + tensor("x", two) + "," +
               tensor("y", R"("dtype":"BF16","shape":[2,1],"data_offsets":[8,12])") +
               R"(,"__metadata__":{"ids":"1"}})",
           12);
  std::mt19937 random(11);
  TempDir dir;
  int accepted = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string bytes = original;
    for (unsigned n = 1 + random() % 3; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0)
      bytes.resize(random() % bytes.size());
    std::filesystem::remove(dir.file("t")); // cutting a file waits for the disk
    writeFile(dir.file("t"), bytes);
    auto opened = TensorFile::open(dir.file("t"));
    if (!opened) {
      std::string text = llvm::toString(opened.takeError());
      if (text.find_first_of("\n\x1b") != std::string::npos || text.size() > 600)
        FAIL("edit " << i << ": " << text);
      continue;
    }
    ++accepted;
    for (const TensorEntry &entry : (*opened)->entries())
      llvm::cantFail((*opened)->read(entry.name));
  }
  CHECK(accepted > 100);
}
