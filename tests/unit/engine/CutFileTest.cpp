// A model file that is cut while it is read spoils its own model and no other of the process.
#include "tests/unit/engine/EngineTest.h"
#include "tests/unit/tiny/TinyFile.h"

#include "llvm/Support/FileSystem.h"

#include <filesystem>
#include <thread>

using namespace vetro;
using namespace vetro::test;

namespace {

const std::vector<int32_t> prompt = randomIds(5, 400, 1);

const TinyFile &whole() {
  static TinyFile file({.arch = "llama", .type = "F32", .layers = 2});
  return file;
}

ModelOptions optionsOf(const std::string &path) {
  ModelOptions o;
  o.path = path, o.pin = false, o.cacheDir = buildDir() + "/plans";
  return o;
}

/// A copy of the whole file that can be cut.
class Copy {
public:
  Copy() {
    REQUIRE(!llvm::sys::fs::createTemporaryFile("vetro-cut", "gguf", path));
    REQUIRE(!llvm::sys::fs::copy_file(whole().path(), path));
  }
  ~Copy() { llvm::sys::fs::remove(path); }
  std::string name() const { return std::string(path); }
  void cut() const { std::filesystem::resize_file(name(), 64 << 10); }

private:
  llvm::SmallString<128> path;
};

/// What loading a file says that is cut once its first weight was read.
std::string loadCut() {
  Copy copy;
  ModelOptions options = optionsOf(copy.name());
  options.progress = [&](llvm::StringRef stage, double) {
    if (stage == "repacking weights")
      copy.cut();
  };
  auto model = Model::load(options);
  return model ? "loaded" : llvm::toString(model.takeError());
}

/// What loading and running the whole file says; empty: nothing.
std::string runWhole() {
  auto model = Model::load(optionsOf(whole().path()));
  if (!model)
    return llvm::toString(model.takeError());
  auto session = Session::create(*model, {});
  if (!session)
    return llvm::toString(session.takeError());
  return llvm::toString((*session)->decode(BatchToken{1}, [](size_t, llvm::ArrayRef<float>) {}));
}

bool saysCut(llvm::StringRef message) { return message.contains("the file was cut while it was"); }

} // namespace

TEST_CASE("after a file that was cut, others load and run") {
  auto before = open(load(whole().path()));
  std::string message = loadCut();
  INFO(message);
  CHECK(saysCut(message));
  CHECK(runWhole() == "");
  lastLogits(*before, prompt);
  lastLogits(*reference(whole().path()), prompt);
}

TEST_CASE("the interpreter of a file that was cut is refused, again and again, others are not") {
  Copy copy;
  auto cut = reference(copy.name()), other = reference(whole().path());
  copy.cut();
  BatchToken token{1, 0, true};
  for (int i = 0; i < 2; ++i) {
    auto error = cut->decode(token, [](size_t, llvm::ArrayRef<float>) { FAIL("no result"); });
    CHECK(saysCut(llvm::toString(std::move(error))));
    lastLogits(*other, prompt);
  }
}

TEST_CASE("files that are cut in one thread leave another thread's alone") {
  runWhole(); // compiled once
  std::vector<std::string> cut, good;
  std::thread other([&] {
    for (int i = 0; i < 8; ++i)
      cut.push_back(loadCut());
  });
  for (int i = 0; i < 8; ++i)
    good.push_back(runWhole());
  other.join();
  CHECK(llvm::all_of(cut, saysCut));
  CHECK(good == std::vector<std::string>(8));
}
