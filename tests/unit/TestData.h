// Where tests find data that the repository does not hold, and how they skip without it.
#pragma once
#include <string>

namespace vetro::test {

/// The folder of vocabularies and tiny models: VETRO_TEST_DATA, else the folder set by CMake.
/// Empty where it does not exist.
std::string dataDir();

/// The file `name` of models/ (obtained by `./bootstrap models`), or empty where it is missing.
std::string model(const std::string &name);

/// Folder of the source tree / of the build tree.
std::string sourceDir();
std::string buildDir();

/// Prints "skipped: <reason>" so that a skipped test is never silent.
void skip(const std::string &reason);

} // namespace vetro::test
