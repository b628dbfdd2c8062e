// vetro lab: lessons with exercises that are checked.
#include "labs/Check.h"
#include "labs/Hint.h"
#include "runtime/cli/Command.h"
#include "runtime/cli/Output.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

namespace vetro::cli {

namespace {
struct LabOptions {
  std::string action, lab, what;
  std::optional<uint64_t> seed;
  bool json = false;
};
} // namespace

using namespace labs;

static int list(const LabOptions &o) {
  Json all = Json::array();
  for (const Lab &lab : allLabs()) {
    Json row = {{"lab", lab.number},
                {"name", lab.name},
                {"title", lab.title},
                {"minutes", lab.minutes},
                {"exercises", lab.exercises.size()},
                {"right", nullptr}};
    std::string done = "not started";
    if (llvm::sys::fs::exists(lab.name)) {
      auto folder = Folder::open(lab, lab.name);
      if (folder)
        row["right"] = folder->right.size();
      done =
          folder
              ? llvm::formatv("{0} of {1} right", folder->right.size(), lab.exercises.size()).str()
              : oneLine(llvm::toString(folder.takeError()));
    }
    if (!o.json)
      llvm::outs() << llvm::formatv("{0,-6} {1,-26} {2,2} min  {3}\n", lab.number, lab.title,
                                    lab.minutes, done);
    all.push_back(std::move(row));
  }
  if (o.json)
    printJson({{"labs", all}});
  return Done;
}

static int startLab(const LabOptions &o, const Lab &lab) {
  uint64_t seed = o.seed ? *o.seed : std::random_device()();
  auto folder = start(lab, o.what, seed, tinyModel(defaultCacheDir()));
  if (!folder)
    return fail(folder.takeError());
  std::string dir = o.what.empty() ? "" : " " + nameText(folder->path());
  if (o.json)
    printJson({{"lab", lab.number}, {"folder", folder->path()}, {"seed", seed}});
  else
    llvm::outs() << llvm::formatv(
        "{0}: {1}, about {2} minutes\n"
        "  read    {3}\n"
        "  answer  {4}\n"
        "  check   vetro lab check {0}{5}\n"
        "  stuck?  vetro lab hint {0}{6}\n",
        lab.number, lab.title, lab.minutes, nameText(folder->pathOf("README.md")),
        nameText(folder->pathOf("answers.txt")), dir, dir.empty() ? "" : ", in that folder");
  return Done;
}

static llvm::StringRef statusName(Status status) {
  return status == Status::Right ? "right" : status == Status::Wrong ? "wrong" : "not answered yet";
}

static void printVerdicts(const Lab &lab, llvm::ArrayRef<Verdict> verdicts) {
  size_t width = 0;
  for (const Exercise &e : lab.exercises)
    width = std::max(width, e.id.size());
  for (auto [e, verdict] : llvm::zip_equal(lab.exercises, verdicts))
    llvm::outs() << llvm::left_justify(e.id, width) << "  " << statusName(verdict.status)
                 << (verdict.text.empty() ? "" : ": " + oneLine(verdict.text)) << "\n";
}

static int checkLab(const LabOptions &o, const Lab &lab) {
  auto folder = Folder::open(lab, o.what);
  if (!folder)
    return fail(folder.takeError());
  auto verdicts = check(lab, *folder, tinyModel(defaultCacheDir()));
  if (!verdicts)
    return fail(verdicts.takeError());
  folder->right.clear();
  Json exercises = Json::array();
  for (auto [e, verdict] : llvm::zip_equal(lab.exercises, *verdicts)) {
    if (verdict.status == Status::Right)
      folder->right.insert(e.id);
    exercises.push_back(
        {{"id", e.id}, {"status", statusName(verdict.status)}, {"text", verdict.text}});
  }
  if (llvm::Error error = folder->save())
    return fail(std::move(error));
  size_t right = folder->right.size(), all = lab.exercises.size();
  if (o.json) {
    printJson({{"lab", lab.number},
               {"folder", folder->path()},
               {"right", right},
               {"exercises", exercises}});
  } else {
    printVerdicts(lab, *verdicts);
    llvm::outs() << right << " of " << all << " right\n";
  }
  return right == all ? Done : AnswerIsNo;
}

static int hintLab(const LabOptions &o, const Lab &lab) {
  auto folder = Folder::open(lab, "");
  if (!folder)
    return fail(folder.takeError());
  auto hint = nextHint(lab, *folder, o.what);
  if (!hint)
    return fail(hint.takeError());
  if (o.json)
    printJson({{"exercise", hint->exercise},
               {"question", lab.find(hint->exercise)->question},
               {"number", hint->number},
               {"count", hint->count},
               {"hint", hint->text ? Json(*hint->text) : Json()}});
  else if (hint->text)
    llvm::outs() << llvm::formatv("{0}: {1}\nhint {2} of {3}: {4}\n", hint->exercise,
                                  lab.find(hint->exercise)->question, hint->number, hint->count,
                                  *hint->text);
  else
    llvm::outs() << hint->exercise << ": that were all hints\n";
  return hint->text ? Done : AnswerIsNo;
}

static int runLab(const LabOptions &o) {
  if (o.action == "list")
    return o.lab.empty() ? list(o) : fail("lab list: takes no lab");
  if (o.lab.empty())
    return fail("lab " + o.action + ": which lab? `vetro lab list` shows all");
  auto lab = findLab(o.lab);
  if (!lab)
    return fail(lab.takeError());
  return o.action == "start"   ? startLab(o, *lab)
         : o.action == "check" ? checkLab(o, *lab)
                               : hintLab(o, *lab);
}

void addLab(CLI::App &program, int &exitCode) {
  auto o = std::make_shared<LabOptions>();
  CLI::App *c = program.add_subcommand("lab", "lessons with exercises, checked");
  c->add_option("ACTION", o->action, "what to do")
      ->required()
      ->check(CLI::IsMember({"list", "start", "check", "hint"}));
  c->add_option("LAB", o->lab, "its number: 10-01");
  c->add_option("DIR|EXERCISE", o->what,
                "start, check: the lab's folder (default: its name); hint: the exercise (default: "
                "the first that is not right)");
  c->add_option("--seed", o->seed, "start: of what is planted (default: another each time)")
      ->check(range<uint64_t>(0, UINT64_MAX));
  c->add_flag(
      "--json", o->json,
      "one object: labs; lab, folder, seed; folder, right, exercises; exercise, question, hint");
  c->footer(
      "list shows all labs, start writes one into a new folder, check reads what stands there,\n"
      "hint tells a little more each time. In a lab's folder check and hint mean that one.\n"
      "Exit code: 0 all is right, 1 not yet (hint: there is none left), 2 it cannot be read.\n"
      "Examples:\n"
      "  vetro lab list\n"
      "  vetro lab start 10-01\n"
      "  vetro lab check 10-01\n"
      "  vetro lab hint 10-01 ne_c");
  c->callback([o, &exitCode] { exitCode = runLab(*o); });
}

} // namespace vetro::cli
