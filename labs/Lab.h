// What a lab is: a lesson with exercises, described by lab.json in its folder. The folders of all
// labs are part of the program, but for their solutions, so that a lab starts without the sources.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace vetro::labs {

/// A file of the labs, as part of the program.
struct EmbeddedFile {
  llvm::StringLiteral path; ///< "10-01-graph-by-hand/starter/product.mlir"
  llvm::StringRef text;
};
/// All of them; labs/embed.py makes the table.
std::vector<EmbeddedFile> embeddedFiles();

/// How an answer is read and compared.
enum class Kind {
  Number,   ///< numbers in order, equal within `tolerance`
  Integers, ///< whole numbers in order
  Words,    ///< words in order, of each one of some spellings
  Values,   ///< a file of numbers, by its signal to noise
  Program,  ///< a file of MLIR text, run on numbers of our own
};

struct Exercise {
  std::string id; ///< also the name of its line in answers.txt
  std::string question;
  std::string expected; ///< what an answer looks like: "two whole numbers"
  Kind kind;
  std::string file;      ///< of Values and Program
  double tolerance = 0;  ///< of Number: largest difference
  double leastSnrDb = 0; ///< of Values and Program: decibels
  std::vector<std::string> hints;
};

struct Lab {
  std::string name;   ///< its folder: "10-01-graph-by-hand"
  std::string number; ///< "10-01"
  std::string title;
  int minutes; ///< that a student takes
  std::vector<Exercise> exercises;

  /// Null: the lab has no such exercise.
  const Exercise *find(llvm::StringRef id) const;
  /// What a student is given, named as in their folder: README.md and the files of starter/.
  std::vector<std::pair<std::string, llvm::StringRef>> givenFiles() const;
};

/// In the order of their numbers.
std::vector<Lab> allLabs();
/// By its number or its name. Error: there is none, with the numbers there are.
llvm::Expected<Lab> findLab(llvm::StringRef text);

} // namespace vetro::labs
