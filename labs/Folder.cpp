// Starting a lab, and reading what the student wrote.
#include "labs/Folder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

namespace vetro::labs {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;
using Json = nlohmann::ordered_json;
using llvm::Twine;

constexpr llvm::StringLiteral stateFile = ".lab.json", answersFile = "answers.txt";

static llvm::Error failed(const Twine &what, std::error_code code) {
  return llvm::createStringError(what + ": " + code.message());
}

static std::string joined(llvm::StringRef folder, llvm::StringRef file) {
  llvm::SmallString<128> whole(folder);
  path::append(whole, file);
  return whole.str().str();
}

std::string Folder::pathOf(llvm::StringRef file) const { return joined(folder, file); }

static llvm::Error writeText(const std::string &file, llvm::StringRef text) {
  if (std::error_code code = fs::create_directories(path::parent_path(file)))
    return failed(file, code);
  std::error_code code;
  llvm::raw_fd_ostream out(file, code);
  if (code)
    return failed(file, code);
  out << text;
  out.close();
  if (!out.has_error())
    return llvm::Error::success();
  code = out.error();
  out.clear_error();
  return failed(file, code);
}

llvm::Expected<std::optional<std::string>> readText(llvm::StringRef file) {
  if (!fs::exists(file))
    return std::nullopt;
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return failed(file, buffer.getError());
  return (*buffer)->getBuffer().str();
}

llvm::Error Folder::save() const {
  Json state = {{"lab", labName}, {"seed", startSeed}, {"hints", hintsGiven}, {"right", right}};
  return writeText(pathOf(stateFile), state.dump() + "\n");
}

llvm::Expected<Folder> Folder::start(const Lab &lab, llvm::StringRef at, uint64_t seed) {
  Folder folder(at.empty() ? lab.name : at.str(), lab.name);
  folder.startSeed = seed;
  if (fs::exists(folder.folder))
    return llvm::createStringError(folder.folder +
                                   ": is there already, and nothing is overwritten;"
                                   " `vetro lab check " +
                                   lab.number + "` goes on with it, `vetro lab start " +
                                   lab.number + " DIR` starts in another folder");
  llvm::Error error = llvm::Error::success();
  for (auto [file, text] : lab.givenFiles())
    if (!error)
      error = writeText(folder.pathOf(file), text);
  if (!error)
    error = folder.save();
  if (!error)
    return folder;
  fs::remove_directories(folder.folder);
  return std::move(error);
}

/// What .lab.json tells, or null where it is no such object.
static Json stateOf(llvm::StringRef text) {
  Json state = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  auto has = [&](const char *key, bool (*is)(const Json &)) {
    return state.is_object() && state.contains(key) && is(state[key]);
  };
  auto areCounts = [](const Json &json) {
    return json.is_object() &&
           llvm::all_of(json, [](const Json &item) { return item.is_number_unsigned(); });
  };
  auto areTexts = [](const Json &json) {
    return json.is_array() && llvm::all_of(json, [](const Json &item) { return item.is_string(); });
  };
  bool good = has("lab", [](const Json &json) { return json.is_string(); }) &&
              has("seed", [](const Json &json) { return json.is_number_unsigned(); }) &&
              has("hints", areCounts) && has("right", areTexts);
  return good ? state : Json();
}

/// Whether the working folder is one of this lab.
static bool isHere(const Lab &lab) {
  auto text = readText(stateFile);
  if (!text) {
    llvm::consumeError(text.takeError());
    return false;
  }
  Json state = *text ? stateOf(**text) : Json();
  return state.is_object() && state["lab"] == lab.name;
}

llvm::Expected<Folder> Folder::open(const Lab &lab, llvm::StringRef at) {
  Folder folder(!at.empty() ? at.str() : isHere(lab) ? "." : lab.name, lab.name);
  std::string startIt =
      "`vetro lab start " + lab.number + (at.empty() ? "`" : " " + at.str() + "`");
  if (!fs::is_directory(folder.folder))
    return llvm::createStringError(folder.folder + ": no such folder; " + startIt + " makes it");
  auto text = readText(folder.pathOf(stateFile));
  if (!text)
    return text.takeError();
  if (!*text)
    return llvm::createStringError(folder.folder +
                                   ": has no .lab.json, no lab was started in it; "
                                   "name the lab's folder, or start it in a new "
                                   "one: `vetro lab start " +
                                   lab.number + " DIR`");
  Json state = stateOf(**text);
  if (state.is_null())
    return llvm::createStringError(folder.pathOf(stateFile) +
                                   ": is damaged; start the lab in another folder and copy your "
                                   "answers: `vetro lab start " +
                                   lab.number + " DIR`");
  if (state["lab"] != lab.name)
    return llvm::createStringError(folder.folder + ": is of lab " +
                                   state["lab"].get<std::string>() + ", not of " + lab.name);
  folder.startSeed = state["seed"].get<uint64_t>();
  folder.hintsGiven = state["hints"].get<std::map<std::string, size_t>>();
  folder.right = state["right"].get<std::set<std::string>>();
  return folder;
}

llvm::Expected<llvm::StringMap<std::string>> Folder::answers(const Lab &lab) const {
  std::string file = pathOf(answersFile);
  auto text = readText(file);
  if (!text)
    return text.takeError();
  if (!*text)
    return llvm::createStringError(file + ": is missing; `vetro lab start " + lab.number +
                                   " DIR` writes a fresh one into another folder");
  llvm::StringMap<std::string> found;
  llvm::StringSet<> named;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(**text).split(lines, '\n');
  for (auto [number, line] : llvm::enumerate(lines)) {
    llvm::StringRef content = line.split('#').first.trim();
    if (content.empty())
      continue;
    auto [name, answer] = content.split('=');
    name = name.trim(), answer = answer.trim();
    std::string where = file + ":" + std::to_string(number + 1) + ": ";
    if (name.size() + answer.size() == content.size())
      return llvm::createStringError(where + "expected NAME = ANSWER");
    if (!lab.find(name) || !lab.find(name)->file.empty())
      return llvm::createStringError(where + "the lab has no answer named " + name);
    if (!named.insert(name).second)
      return llvm::createStringError(where + name + " is answered twice");
    if (!answer.empty())
      found[name] = answer.str();
  }
  return found;
}

llvm::Expected<std::vector<double>> readNumbers(llvm::StringRef text) {
  std::vector<double> numbers;
  llvm::SmallVector<llvm::StringRef> lines, words;
  text.split(lines, '\n');
  for (auto [number, line] : llvm::enumerate(lines)) {
    words.clear();
    llvm::SplitString(line.split('#').first, words, " \t\r,[]()");
    for (llvm::StringRef word : words) {
      double value;
      if (word.getAsDouble(value))
        return llvm::createStringError("line " + Twine(number + 1) + ": \"" + word +
                                       "\" is no number");
      numbers.push_back(value);
    }
  }
  return numbers;
}

} // namespace vetro::labs
