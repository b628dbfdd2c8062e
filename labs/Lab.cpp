// Reading lab.json. It is part of the program: a wrong one is our mistake, and a test reads all.
#include "labs/Lab.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <nlohmann/json.hpp>

namespace vetro::labs {

using Json = nlohmann::json;

static Kind kindOf(llvm::StringRef name) {
  return llvm::StringSwitch<Kind>(name)
      .Case("number", Kind::Number)
      .Case("integers", Kind::Integers)
      .Case("words", Kind::Words)
      .Case("values", Kind::Values)
      .Case("program", Kind::Program);
}

static Exercise exerciseOf(const Json &json) {
  Exercise e;
  e.id = json.at("id").get<std::string>();
  e.question = json.at("question").get<std::string>();
  e.expected = json.at("expected").get<std::string>();
  e.kind = kindOf(json.at("kind").get<std::string>());
  e.file = json.value("file", "");
  e.tolerance = json.value("tolerance", 0.0);
  e.leastSnrDb = json.value("min_snr_db", 0.0);
  e.hints = json.at("hints").get<std::vector<std::string>>();
  return e;
}

/// The lab whose lab.json this is.
static Lab labOf(const EmbeddedFile &file) {
  Json json = Json::parse(file.text.begin(), file.text.end(), nullptr, /*allow_exceptions=*/false);
  Lab lab;
  lab.name = file.path.split('/').first.str();
  // "10-01-graph-by-hand" begins with its number.
  llvm::StringRef name = lab.name;
  lab.number = name.substr(0, name.find_first_not_of("0123456789-")).rtrim('-').str();
  lab.title = json.at("title").get<std::string>();
  lab.minutes = json.at("minutes").get<int>();
  for (const Json &exercise : json.at("exercises"))
    lab.exercises.push_back(exerciseOf(exercise));
  return lab;
}

const Exercise *Lab::find(llvm::StringRef id) const {
  auto it = llvm::find_if(exercises, [&](const Exercise &e) { return e.id == id; });
  return it == exercises.end() ? nullptr : &*it;
}

std::vector<std::pair<std::string, llvm::StringRef>> Lab::givenFiles() const {
  std::vector<std::pair<std::string, llvm::StringRef>> files;
  for (const EmbeddedFile &file : embeddedFiles()) {
    auto [folder, path] = file.path.split('/');
    if (folder != name || path == "lab.json")
      continue;
    path.consume_front("starter/");
    files.emplace_back(path.str(), file.text);
  }
  return files;
}

std::vector<Lab> allLabs() {
  std::vector<Lab> labs;
  for (const EmbeddedFile &file : embeddedFiles())
    if (file.path.ends_with("/lab.json"))
      labs.push_back(labOf(file));
  llvm::sort(labs, [](const Lab &a, const Lab &b) { return a.name < b.name; });
  return labs;
}

llvm::Expected<Lab> findLab(llvm::StringRef text) {
  std::vector<std::string> numbers;
  for (Lab &lab : allLabs()) {
    if (text == lab.number || text == lab.name)
      return std::move(lab);
    numbers.push_back(lab.number);
  }
  return llvm::createStringError("lab " + text + ": there is none; there are " +
                                 llvm::join(numbers, ", "));
}

} // namespace vetro::labs
