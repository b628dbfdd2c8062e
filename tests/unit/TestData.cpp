#include "tests/unit/TestData.h"
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace vetro::test {

std::string dataDir() {
  const char *env = std::getenv("VETRO_TEST_DATA");
  std::string dir = env ? env : VETRO_TEST_DATA_DEFAULT;
  return std::filesystem::is_directory(dir) ? dir : "";
}

std::string model(const std::string &name) {
  std::string file = std::string(VETRO_SOURCE_DIR) + "/models/" + name;
  return std::filesystem::exists(file) ? file : "";
}

std::string sourceDir() { return VETRO_SOURCE_DIR; }
std::string buildDir() { return VETRO_BINARY_DIR; }

void skip(const std::string &reason) { std::printf("skipped: %s\n", reason.c_str()); }

} // namespace vetro::test
