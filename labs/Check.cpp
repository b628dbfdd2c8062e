// From answers and truths to verdicts, one function a kind of exercise.
#include "labs/Check.h"
#include "labs/Values.h"
#include "runtime/builtin/Builtin.h"
#include "runtime/compare/Metrics.h"
#include "runtime/engine/Program.h"
#include "runtime/jit/Compile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace vetro::labs {

static const LabCode &codeOf(const Lab &lab) {
  for (const LabCode *code : {&graphByHand, &sixteenSteps, &normAndRope, &bugHunt})
    if (code->number == lab.number)
      return *code;
  llvm_unreachable("a lab without code");
}

ModelOptions tinyModel(std::string cacheDir) {
  ModelOptions options;
  options.path = builtinName.str();
  options.open.content = builtinModel();
  options.cacheDir = std::move(cacheDir);
  return options;
}

llvm::Expected<Folder> start(const Lab &lab, llvm::StringRef path, uint64_t seed,
                             const ModelOptions &tiny) {
  auto folder = Folder::start(lab, path, seed);
  if (!folder || !codeOf(lab).prepare)
    return folder;
  if (llvm::Error error = codeOf(lab).prepare(*folder, tiny)) {
    llvm::sys::fs::remove_directories(folder->path()); // it was not there before
    return std::move(error);
  }
  return folder;
}

// ---- kinds ----

static Verdict wrong(const Exercise &e, const llvm::Twine &what) {
  return {Status::Wrong, (what + "; expected " + e.expected).str()};
}

static Verdict judgeNumbers(const Exercise &e, llvm::StringRef answer, const Truth &truth) {
  auto numbers = readNumbers(answer);
  if (!numbers) {
    llvm::consumeError(numbers.takeError());
    return wrong(e, "\"" + answer + "\" is not of the kind");
  }
  if (numbers->size() != truth.numbers.size())
    return wrong(e, llvm::Twine(numbers->size()) +
                        (numbers->size() == 1 ? " number was found" : " numbers were found"));
  for (auto [ours, theirs] : llvm::zip_equal(*numbers, truth.numbers))
    if (!(std::abs(ours - theirs) <= e.tolerance))
      return wrong(e, numbers->size() == 1 ? "not this number" : "not these numbers");
  return {Status::Right};
}

static Verdict judgeWords(const Exercise &e, llvm::StringRef answer, const Truth &truth) {
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(answer, words, " \t\r,\"'");
  if (words.size() != truth.words.size())
    return wrong(e, llvm::Twine(words.size()) +
                        (words.size() == 1 ? " word was found" : " words were found"));
  for (auto [i, word] : llvm::enumerate(words))
    if (llvm::none_of(truth.words[i], [&](auto &good) { return word.equals_insensitive(good); }))
      return wrong(e, words.size() == 1 ? llvm::Twine("not this word")
                                        : "word " + llvm::Twine(i + 1) + " is not right");
  return {Status::Right};
}

/// Both have as many numbers.
static Verdict judgeValues(const Exercise &e, llvm::ArrayRef<float> ours, const Truth &truth) {
  std::vector<float> theirs(truth.numbers.begin(), truth.numbers.end());
  double snr = difference({int64_t(theirs.size())}, ours, theirs).snrDb();
  if (snr >= e.leastSnrDb)
    return {Status::Right};
  return wrong(e, llvm::formatv("the signal is {0:f1} dB over the error, {1:f0} dB are asked for",
                                snr, e.leastSnrDb)
                      .str());
}

static Verdict judgeFile(const Exercise &e, llvm::StringRef text, const Truth &truth) {
  auto numbers = readNumbers(text);
  if (!numbers)
    return wrong(e, e.file + ", " + llvm::toString(numbers.takeError()));
  if (numbers->empty())
    return {Status::Unanswered, e.file + " is empty"};
  if (numbers->size() != truth.numbers.size())
    return wrong(e, e.file + " has " + llvm::Twine(numbers->size()) + " numbers");
  return judgeValues(e, std::vector<float>(numbers->begin(), numbers->end()), truth);
}

/// The result of the student's program on our numbers, by machine code.
static llvm::Expected<ref::Tensor> runProgram(llvm::StringRef text, llvm::StringRef path,
                                              const Truth &truth) {
  auto program = Program::parse(text, path);
  if (!program)
    return program.takeError();
  if (llvm::Error error = (*program)->bind(*fileOf(truth.inputs)))
    return std::move(error);
  return (*program)->run(bestLevel());
}

static Verdict judgeProgram(const Exercise &e, llvm::StringRef text, const Truth &truth) {
  if (text.trim().empty() || text.contains("____"))
    return {Status::Unanswered, e.file + (text.trim().empty() ? " is empty" : " has blanks")};
  auto result = runProgram(text, e.file, truth);
  if (!result)
    return wrong(e, llvm::toString(result.takeError()));
  if (!llvm::equal(result->shape, truth.shape))
    return wrong(e, "its result has another shape");
  return judgeValues(e, result->data, truth);
}

// ---- all exercises ----

/// An exercise whose answer is a file.
static llvm::Expected<Verdict> checkFile(const Exercise &e, const Folder &folder,
                                         const Truth &truth) {
  auto text = readText(folder.pathOf(e.file));
  if (!text)
    return text.takeError();
  if (!*text)
    return Verdict{Status::Unanswered, e.file + " is missing"};
  return e.kind == Kind::Program ? judgeProgram(e, **text, truth) : judgeFile(e, **text, truth);
}

llvm::Expected<std::vector<Verdict>> check(const Lab &lab, const Folder &folder,
                                           const ModelOptions &tiny) {
  auto answers = folder.answers(lab);
  if (!answers)
    return answers.takeError();
  auto truths = codeOf(lab).truths(folder, tiny);
  if (!truths)
    return truths.takeError();
  std::vector<Verdict> verdicts;
  for (const Exercise &e : lab.exercises) {
    const Truth &truth = truths->at(e.id);
    if (!e.file.empty()) {
      auto verdict = checkFile(e, folder, truth);
      if (!verdict)
        return verdict.takeError();
      verdicts.push_back(std::move(*verdict));
    } else if (!answers->count(e.id))
      verdicts.push_back({Status::Unanswered});
    else if (e.kind == Kind::Words)
      verdicts.push_back(judgeWords(e, (*answers)[e.id], truth));
    else
      verdicts.push_back(judgeNumbers(e, (*answers)[e.id], truth));
  }
  return verdicts;
}

} // namespace vetro::labs
