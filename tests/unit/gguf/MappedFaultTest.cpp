// A mapped file that is cut while it is read, and Ctrl-C.
#include "runtime/memory/Signals.h"
#include "tests/unit/gguf/TinyGguf.h"
#include <csignal>
#include <filesystem>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace vetro;
using namespace vetro::test;

/// The first fault in the file's one mapping, or null.
static const void *faultIn(const gguf::File &file) {
  REQUIRE(file.mappings().size() == 1);
  return faultInMappedRange(file.mappings()[0].data());
}

/// A file of one tensor of 1 MiB, all 42, opened with its mapping registered.
static std::shared_ptr<gguf::File> openRegistered(const std::string &path) {
  static const std::vector<uint8_t> data(1 << 20, 42);
  gguf::Writer writer;
  writer.addTensor("w", Format::I8, {1 << 20}, data);
  writeFile(path, bytesOf(writer));
  gguf::OpenOptions options;
  options.onMap = [](llvm::ArrayRef<uint8_t> range) {
    CHECK(registerMappedRange(range.data(), range.size()));
  };
  options.onUnmap = [](llvm::ArrayRef<uint8_t> range) { unregisterMappedRange(range.data()); };
  return accepted(gguf::File::open(path, options));
}

static uint64_t sumOf(llvm::ArrayRef<uint8_t> bytes) {
  uint64_t sum = 0;
  for (const uint8_t &byte : bytes)
    sum += *static_cast<const volatile uint8_t *>(&byte);
  return sum;
}

TEST_CASE("a mapped file that is cut reads as zeros, which its mapping notes and no other") {
  TempDir dir;
  installMappedFaultHandler();
  auto file = openRegistered(dir.file("m.gguf")), another = openRegistered(dir.file("n.gguf"));
  const gguf::TensorInfo *tensor = file->findTensor("w");
  REQUIRE(tensor);
  CHECK(sumOf(file->data(*tensor)) == uint64_t(42) << 20);
  CHECK(faultIn(*file) == nullptr);

  std::filesystem::resize_file(dir.file("m.gguf"), 512 << 10);
  std::thread other([&] { CHECK(sumOf(file->data(*tensor)) < uint64_t(42) << 20); });
  uint64_t sum = sumOf(file->data(*tensor));
  other.join();
  CHECK(sum > 0);
  CHECK(sum <= uint64_t(42) * (512 << 10));
  CHECK(file->tensorAt(faultIn(*file)) == tensor);
  CHECK(faultIn(*another) == nullptr);
  CHECK(has(llvm::toString(file->checkUnchanged()), "has 524288 bytes, had"));

  // Its place may be another file's next.
  const uint8_t *place = file->mappings()[0].data();
  file.reset();
  CHECK(faultInMappedRange(place) == nullptr);
  CHECK(registerMappedRange(place, 1));
  CHECK(faultInMappedRange(place) == nullptr);
  unregisterMappedRange(place);
}

TEST_CASE("data that was read into memory has no mapping") {
  TempDir dir;
  gguf::Writer writer;
  const std::vector<uint8_t> bytes(64, 1);
  writer.addTensor("w", Format::I8, {64}, bytes);
  writeFile(dir.file("m.gguf"), bytesOf(writer));
  gguf::OpenOptions options;
  options.mmap = false;
  CHECK(accepted(gguf::File::open(dir.file("m.gguf"), options))->mappings().empty());
}

/// Runs `work` in a child process; how it ended, as waitpid() says it: 0 is well.
template <typename Work> static int statusOf(Work work) {
  pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

TEST_CASE("a fault outside the registered ranges still ends the process") {
  installMappedFaultHandler();
  TempDir dir;
  std::string path = dir.file("m.gguf");
  auto file = openRegistered(path);
  auto unregistered = accepted(gguf::File::open(path));
  std::filesystem::resize_file(path, 4096);
  CHECK(statusOf([&] { sumOf(file->data(file->tensors()[0])); }) == 0);
  CHECK(statusOf([&] { sumOf(unregistered->data(unregistered->tensors()[0])); }) != 0);
}

TEST_CASE("the first Ctrl-C is a flag, the second ends the process or is dropped") {
  installInterruptHandler();
  clearInterrupted();
  CHECK_FALSE(interrupted());
  raise(SIGINT);
  CHECK(interrupted());
  clearInterrupted();
  CHECK_FALSE(interrupted());
  CHECK(statusOf([] { raise(SIGINT); }) == 0);
  CHECK(statusOf([] {
          raise(SIGINT);
          raise(SIGINT);
        }) == SIGINT);
  removeInterruptHandler();
  installInterruptHandler(SecondInterrupt::IsDropped);
  CHECK(statusOf([] {
          raise(SIGINT);
          raise(SIGINT);
        }) == 0);
  removeInterruptHandler();
}

TEST_CASE("while a guard lives, Ctrl-C ends the process with 130") {
  installInterruptHandler();
  clearInterrupted();
  auto code = [](auto work) {
    int status = statusOf(work);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  CHECK(code([] {
          InterruptEndsProcess guard;
          raise(SIGINT);
        }) == 130);
  CHECK(code([] {
          raise(SIGINT);
          InterruptEndsProcess guard;
        }) == 130);
  CHECK(code([] {
          {
            InterruptEndsProcess guard;
          }
          raise(SIGINT);
        }) == 0);
  removeInterruptHandler();
}

TEST_CASE("ranges are freed for others") {
  static char bytes[300];
  int registered = 0;
  while (registered < 300 && registerMappedRange(bytes + registered, 1))
    ++registered;
  CHECK(registered > 200);
  CHECK(registered <= 256);
  unregisterMappedRange(bytes);
  CHECK(registerMappedRange(bytes, 1));
  for (int i = 0; i < registered; ++i)
    unregisterMappedRange(bytes + i);
  CHECK(registerMappedRange(bytes, 1));
  unregisterMappedRange(bytes);
}
