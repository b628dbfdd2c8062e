// The built-in model: its bytes are those of the file, its name opens them and hides no file.
#include "runtime/builtin/Builtin.h"
#include "tests/unit/TestData.h"
#include "tests/unit/gguf/TinyGguf.h"
#include <filesystem>

using namespace vetro;
using namespace vetro::test;

namespace {
/// Works in another folder until the end of the test.
struct InFolder {
  explicit InFolder(const std::string &path) { std::filesystem::current_path(path); }
  ~InFolder() { std::filesystem::current_path(before); }
  std::filesystem::path before = std::filesystem::current_path();
};
} // namespace

TEST_CASE("the bytes are those of the kept file, aligned") {
  llvm::ArrayRef<uint8_t> bytes = builtinModel();
  CHECK(reinterpret_cast<uintptr_t>(bytes.data()) % 64 == 0);
  CHECK(bytes.size() <= 2000000);
  auto kept = accepted(gguf::File::open(sourceDir() + "/labs/model/vetro-tiny.gguf"));
  REQUIRE(bytes.size() == kept->fileBytes());
  auto inside = [&] {
    gguf::OpenOptions open;
    REQUIRE(llvm::toString(useBuiltin("tiny", open)) == "");
    return accepted(gguf::File::open("tiny", open));
  }();
  REQUIRE(inside->tensors().size() == kept->tensors().size());
  for (const gguf::TensorInfo &tensor : inside->tensors()) {
    INFO(tensor.name);
    CHECK(inside->data(tensor) == kept->data(*kept->findTensor(tensor.name)));
    CHECK(
        (inside->data(tensor).data() > bytes.data() && inside->data(tensor).data() < bytes.end()));
  }
}

TEST_CASE("only the name opens it, and not where a file has that name") {
  TempDir dir;
  InFolder there(dir.file(""));
  for (llvm::StringRef path : {"", "./tiny", "tiny.gguf", "Tiny", "a/tiny"}) {
    gguf::OpenOptions open;
    CHECK(llvm::toString(useBuiltin(path, open)) == "");
    CHECK(open.content.empty());
  }
  gguf::OpenOptions open;
  writeFile("tiny", "a file");
  CHECK(has(llvm::toString(useBuiltin("tiny", open)), "./tiny for the file"));
  CHECK(open.content.empty());
  std::filesystem::remove("tiny");
  CHECK(llvm::toString(useBuiltin("tiny", open)) == "");
  CHECK(open.content.size() == builtinModel().size());
}
