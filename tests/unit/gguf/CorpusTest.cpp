// Files of others: valid containers, vocabularies, and damaged files with known verdicts.
#include "tests/unit/TestData.h"
#include "tests/unit/gguf/TinyGguf.h"
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace vetro;
using namespace vetro::test;
namespace fs = std::filesystem;

TEST_CASE("damaged files get their verdict") {
  std::string dir = dataDir();
  if (dir.empty())
    return skip("no test data; set VETRO_TEST_DATA");
  std::ifstream lines(dir + "/malformed/gguf.jsonl");
  std::string line;
  int files = 0, acceptedFiles = 0;
  gguf::OpenOptions options;
  options.allowTrailing = true;
  while (std::getline(lines, line)) {
    auto entry = nlohmann::json::parse(line);
    std::string name = entry["file"];
    INFO(line);
    auto file = gguf::File::open(dir + "/malformed/gguf/" + name, options);
    bool ok = static_cast<bool>(file);
    std::string message = ok ? "accepted" : llvm::toString(file.takeError());
    INFO(message);
    CHECK(ok == (entry["verdict"] == "accept"));
    acceptedFiles += ok;
    ++files;
  }
  CHECK(files == 234);
  CHECK(acceptedFiles == 6);
}

TEST_CASE("small valid containers are read") {
  std::string dir = dataDir();
  if (dir.empty())
    return skip("no test data; set VETRO_TEST_DATA");
  auto count = [&](const char *name) {
    auto file = accepted(gguf::File::open(dir + "/gguf/" + name));
    return std::pair(file->keys().size(), file->tensors().size());
  };
  CHECK(count("tiny-partial-llama.gguf") == std::pair<size_t, size_t>(7, 4));
  CHECK(count("one-key-no-tensors.gguf") == std::pair<size_t, size_t>(1, 0));
  CHECK(count("v2-f32.gguf") == std::pair<size_t, size_t>(0, 1));
  CHECK(count("v3-q4_0.gguf") == std::pair<size_t, size_t>(0, 1));
  CHECK(accepted(gguf::File::open(dir + "/gguf/v2-f32.gguf"))->version() == 2);
}

TEST_CASE("a trained model is read") {
  std::string dir = dataDir();
  if (dir.empty())
    return skip("no test data; set VETRO_TEST_DATA");
  gguf::OpenOptions options;
  options.checkTensors = true;
  auto file = accepted(gguf::File::open(dir + "/stories260k/stories260K.gguf", options));
  CHECK(file->tensors().size() == 48);
  CHECK(*accepted(gguf::File::open(file->path(), options))
             ->require<llvm::StringRef>("general.architecture") == "llama");
  const gguf::TensorInfo *embedding = file->findTensor("token_embd.weight");
  REQUIRE(embedding);
  CHECK(embedding->shape() == llvm::SmallVector<int64_t, 4>{512, 64});
  CHECK(file->data(*embedding).size() == 512 * 64 * 4);
  CHECK(file->find("tokenizer.ggml.tokens")->asStrings()->size() == 512);
}

TEST_CASE("vocabulary-only files open fast") {
  std::string dir = dataDir();
  if (dir.empty())
    return skip("no test data; set VETRO_TEST_DATA");
  int files = 0;
  for (const auto &entry : fs::directory_iterator(dir + "/vocab")) {
    if (entry.path().extension() != ".gguf")
      continue;
    INFO(entry.path());
    auto file = accepted(gguf::File::open(entry.path().string()));
    std::optional<gguf::StringArray> tokens = file->find("tokenizer.ggml.tokens")->asStrings();
    REQUIRE(tokens);
    CHECK(tokens->size() >= 1000);
    CHECK(file->tensors().empty());
    CHECK(msToOpen(entry.path().string()) < 250); // a few ms in a release build
    ++files;
  }
  CHECK(files == 13);
}
