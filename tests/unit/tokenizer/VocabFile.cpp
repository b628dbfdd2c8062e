// Reads the tokenizer's keys of a GGUF file.
#include "tests/unit/tokenizer/VocabFile.h"
#include "runtime/tokenizer/Encoders.h"
#include "tests/unit/Catch.h"
#include "tests/unit/TestData.h"
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>

using llvm::StringRef;

namespace vetro::test {

namespace {

/// Walks over the header of a GGUF file of version 3.
class Cursor {
public:
  explicit Cursor(const std::string &bytes) : bytes(bytes) {}
  template <class T> T take() {
    T value;
    std::memcpy(&value, &bytes.at(at + sizeof(T) - 1) - (sizeof(T) - 1), sizeof(T));
    at += sizeof(T);
    return value;
  }
  StringRef text() {
    auto size = take<uint64_t>();
    StringRef out = StringRef(bytes).substr(at, size);
    at += size;
    return out;
  }
  /// A number of type `type` as a double; 7 is bool.
  double number(uint32_t type) {
    switch (type) {
    case 0:
    case 7:
      return take<uint8_t>();
    case 1:
      return take<int8_t>();
    case 2:
      return take<uint16_t>();
    case 3:
      return take<int16_t>();
    case 4:
      return take<uint32_t>();
    case 5:
      return take<int32_t>();
    case 6:
      return take<float>();
    case 10:
      return static_cast<double>(take<uint64_t>());
    case 11:
      return static_cast<double>(take<int64_t>());
    default:
      return take<double>();
    }
  }

private:
  const std::string &bytes;
  size_t at = 0;
};

/// One key's value: a text, numbers or texts.
struct Value {
  std::vector<StringRef> texts;
  std::vector<double> numbers;
};

Value takeValue(Cursor &cursor) {
  Value value;
  auto type = cursor.take<uint32_t>();
  uint64_t n = 1;
  if (type == 9) {
    type = cursor.take<uint32_t>();
    n = cursor.take<uint64_t>();
  }
  for (uint64_t i = 0; i < n; ++i) {
    if (type == 8)
      value.texts.push_back(cursor.text());
    else
      value.numbers.push_back(cursor.number(type));
  }
  return value;
}

} // namespace

std::string readFile(const std::string &path, size_t atMost) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  REQUIRE(in);
  std::string bytes(std::min<size_t>(in.tellg(), atMost), '\0');
  in.seekg(0);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(in);
  return bytes;
}

VocabFile::VocabFile(const std::string &path) : bytes(readFile(path, 64 << 20)) {
  Cursor cursor(bytes);
  REQUIRE(cursor.take<uint32_t>() == 0x46554747);
  REQUIRE(cursor.take<uint32_t>() == 3);
  cursor.take<uint64_t>();
  auto nKeys = cursor.take<uint64_t>();
  std::map<StringRef, Value> keys;
  for (uint64_t i = 0; i < nKeys; ++i) {
    StringRef key = cursor.text();
    keys[key] = takeValue(cursor);
  }
  auto text = [&](StringRef key) { return keys.count(key) ? keys[key].texts.at(0) : StringRef(); };
  auto id = [&](StringRef key) -> std::optional<uint32_t> {
    return keys.count(key) ? std::optional(static_cast<uint32_t>(keys[key].numbers.at(0)))
                           : std::nullopt;
  };
  auto flag = [&](StringRef key) -> std::optional<bool> {
    return keys.count(key) ? std::optional(keys[key].numbers.at(0) != 0) : std::nullopt;
  };
  data.model = text("tokenizer.ggml.model");
  data.pre = text("tokenizer.ggml.pre");
  data.modelName = text("general.name");
  data.tokens = keys["tokenizer.ggml.tokens"].texts;
  data.merges = keys["tokenizer.ggml.merges"].texts;
  auto &scores = keys["tokenizer.ggml.scores"].numbers;
  data.scores.assign(scores.begin(), scores.end());
  auto &types = keys["tokenizer.ggml.token_type"].numbers;
  data.types.assign(types.begin(), types.end());
  data.bos = id("tokenizer.ggml.bos_token_id");
  data.eos = id("tokenizer.ggml.eos_token_id");
  data.unk = id("tokenizer.ggml.unknown_token_id");
  data.pad = id("tokenizer.ggml.padding_token_id");
  data.addBos = flag("tokenizer.ggml.add_bos_token");
  data.addEos = flag("tokenizer.ggml.add_eos_token");
  data.addSpacePrefix = flag("tokenizer.ggml.add_space_prefix");
}

std::unique_ptr<Tokenizer> load(const VocabData &data) {
  llvm::Expected<std::unique_ptr<Tokenizer>> tokenizer = Tokenizer::create(data);
  if (!tokenizer)
    FAIL(llvm::toString(tokenizer.takeError()));
  return std::move(*tokenizer);
}

const std::vector<std::string> &vocabNames() {
  static const std::vector<std::string> names = {
      "deepseek-coder", "deepseek-llm", "falcon", "gpt-2",    "llama-spm", "mpt",
      "phi-3",          "qwen2",        "refact", "starcoder"};
  return names;
}

std::string vocabPath(const std::string &name, const std::string &ending) {
  std::string path = dataDir() + "/vocab/ggml-vocab-" + name + ending;
  if (!dataDir().empty() && std::filesystem::exists(path))
    return path;
  skip("no " + path + "; set VETRO_TEST_DATA");
  return {};
}

VocabData tinyBpe(llvm::ArrayRef<StringRef> more, llvm::ArrayRef<StringRef> merges) {
  static const std::deque<std::string> alphabet = [] {
    std::deque<std::string> characters(256);
    for (unsigned byte = 0; byte < 256; ++byte)
      appendUtf8(byteToAlphabet(static_cast<uint8_t>(byte)), characters[byte]);
    return characters;
  }();
  VocabData data;
  data.model = "gpt2";
  data.pre = "gpt-2";
  data.tokens.assign(alphabet.begin(), alphabet.end());
  data.tokens.insert(data.tokens.end(), more.begin(), more.end());
  data.merges = merges.vec();
  data.bos = data.eos = UINT32_MAX;
  return data;
}

} // namespace vetro::test
