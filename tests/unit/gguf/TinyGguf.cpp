#include "tests/unit/gguf/TinyGguf.h"
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace vetro::test {

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "vetro-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string bytesOf(const gguf::Writer &writer) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  std::string message = llvm::toString(writer.write(os));
  REQUIRE(message == "");
  return bytes;
}

static std::vector<uint8_t> pattern(size_t n) {
  std::vector<uint8_t> bytes(n);
  for (size_t i = 0; i < n; ++i) // small values: no F16 or F32 of them is infinite
    bytes[i] = static_cast<uint8_t>(i * 7 % 60);
  return bytes;
}

static void addKeys(gguf::Writer &writer) {
  writer.addString("general.architecture", "llama");
  writer.addString("general.name", "tiny");
  writer.add<uint32_t>("llama.context_length", 128);
  writer.add<uint32_t>("llama.embedding_length", 64);
  writer.add<float>("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  writer.add<uint8_t>("t.u8", 200);
  writer.add<int8_t>("t.i8", -5);
  writer.add<uint16_t>("t.u16", 60000);
  writer.add<int16_t>("t.i16", -300);
  writer.add<int32_t>("t.i32", -70000);
  writer.add<uint64_t>("t.u64", uint64_t(1) << 63);
  writer.add<int64_t>("t.i64", -(int64_t(1) << 40));
  writer.add<double>("t.f64", 0.1);
  writer.add<bool>("t.bool", true);
  writer.addArray<float>("t.floats", {1.0f, -2.5f, 0.0f});
  writer.addArray<int32_t>("t.ints", {3, -4});
  writer.addArray<bool>("t.flags", {true, false, true});
  writer.addArray<uint8_t>("t.nothing", {});
  writer.addStrings("tokenizer.ggml.tokens",
                    llvm::ArrayRef<std::string>{"<s>", "", "a\xff", "\xe2\x96\x81the"});
}

std::string tinyGguf(uint32_t alignment) {
  static const std::vector<uint8_t> data = pattern(1 << 14);
  llvm::ArrayRef<uint8_t> bytes(data);
  gguf::Writer writer(alignment);
  addKeys(writer);
  writer.addTensor("token_embd.weight", Format::F32, {64, 4}, bytes.take_front(1024));
  writer.addTensor("blk.0.attn_q.weight", Format::Q8_0, {64, 3}, bytes.take_front(6 * 34));
  writer.addTensor("blk.0.ffn_up.weight", Format::Q4_K, {256, 2}, bytes.take_front(288));
  writer.addTensor("blk.0.norm.weight", Format::F16, {5}, bytes.take_front(10));
  writer.addTensor("blk.0.exps.weight", 39, {32, 2, 2}, bytes.take_front(68));
  writer.addTensor("output.weight", Format::IQ4_NL, {32, 1, 1}, bytes.take_front(18));
  return bytesOf(writer);
}

void writeFile(const std::string &path, llvm::StringRef bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

llvm::Expected<std::shared_ptr<gguf::File>> openBytes(llvm::StringRef bytes,
                                                      const gguf::OpenOptions &options) {
  TempDir dir;
  writeFile(dir.file("m.gguf"), bytes);
  return gguf::File::open(dir.file("m.gguf"), options);
}

std::shared_ptr<gguf::File> accepted(llvm::Expected<std::shared_ptr<gguf::File>> file) {
  std::string message = file ? "" : llvm::toString(file.takeError());
  REQUIRE(message == "");
  return *file;
}

std::string refused(llvm::Expected<std::shared_ptr<gguf::File>> file, gguf::ErrorKind kind) {
  REQUIRE_FALSE(static_cast<bool>(file));
  std::string message, found;
  llvm::handleAllErrors(file.takeError(), [&](const gguf::GgufError &error) {
    message = error.message();
    found = gguf::errorKindName(error.kind()).str();
  });
  INFO(message);
  CHECK(found == gguf::errorKindName(kind).str());
  CHECK(message.find_first_of("\n\x1b") == std::string::npos);
  return message;
}

std::string refused(llvm::StringRef bytes, gguf::ErrorKind kind, const gguf::OpenOptions &options) {
  return refused(openBytes(bytes, options), kind);
}

/// Offset of u64 length and text, the form of keys and tensor names.
static size_t textAt(const std::string &bytes, const std::string &text) {
  uint64_t length = text.size();
  std::string record(reinterpret_cast<const char *>(&length), sizeof(length));
  size_t at = bytes.find(record + text);
  REQUIRE(at != std::string::npos);
  return at;
}

size_t keyAt(const std::string &bytes, const std::string &key) { return textAt(bytes, key); }
size_t typeAt(const std::string &bytes, const std::string &key) {
  return keyAt(bytes, key) + 8 + key.size();
}
size_t valueAt(const std::string &bytes, const std::string &key) { return typeAt(bytes, key) + 4; }
size_t tensorAt(const std::string &bytes, const std::string &name) { return textAt(bytes, name); }
size_t dimsAt(const std::string &bytes, const std::string &name) {
  return tensorAt(bytes, name) + 8 + name.size();
}

double msToOpen(const std::string &path, const gguf::OpenOptions &options) {
  double best = 1e9;
  for (int run = 0; run < 5; ++run) {
    std::clock_t start = std::clock();
    accepted(gguf::File::open(path, options));
    best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace vetro::test
