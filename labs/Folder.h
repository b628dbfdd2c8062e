// A student's folder of a lab: the files that they were given and edit, and .lab.json, where the
// lab keeps the seed it was started with, which hints were given, and what was right at the last
// check.
#pragma once

#include "labs/Lab.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <optional>
#include <set>

namespace vetro::labs {

class Folder {
public:
  /// Makes the folder and writes what the lab gives into it. Empty `path`: ./NAME. Errors: there is
  /// something at `path`; it cannot be written, and then it is gone again.
  static llvm::Expected<Folder> start(const Lab &lab, llvm::StringRef path, uint64_t seed);
  /// Opens one that was started. Empty `path`: the working folder if it is the lab's, else ./NAME.
  /// Errors: no folder, not of this lab, a damaged .lab.json.
  static llvm::Expected<Folder> open(const Lab &lab, llvm::StringRef path);

  const std::string &path() const { return folder; }
  uint64_t seed() const { return startSeed; }
  /// Where a file of the folder lies.
  std::string pathOf(llvm::StringRef file) const;

  /// The lines "NAME = ANSWER" of answers.txt; an empty answer is left out, # begins a comment.
  /// Errors: no such file, a line of another form, a name that the lab lacks, a name given twice.
  llvm::Expected<llvm::StringMap<std::string>> answers(const Lab &lab) const;

  /// How many hints were given, by exercise.
  std::map<std::string, size_t> hintsGiven;
  /// What was right at the last check.
  std::set<std::string> right;
  /// Keeps both. Error: it cannot be written.
  llvm::Error save() const;

private:
  Folder(std::string folder, std::string labName)
      : folder(std::move(folder)), labName(std::move(labName)) {}
  std::string folder, labName;
  uint64_t startSeed = 0;
};

/// A file of the student's whole. Nothing: there is no such file. Error: it cannot be read.
llvm::Expected<std::optional<std::string>> readText(llvm::StringRef path);
/// The numbers of a text, apart by spaces, commas or brackets; # begins a comment. Error: a word
/// that is no number, with its line.
llvm::Expected<std::vector<double>> readNumbers(llvm::StringRef text);

} // namespace vetro::labs
