// Hints in order, one at a time; the folder counts them.
#include "labs/Hint.h"

#include "llvm/ADT/StringExtras.h"

namespace vetro::labs {

static llvm::Expected<const Exercise *> choose(const Lab &lab, const Folder &folder,
                                               llvm::StringRef id) {
  if (id.empty()) {
    for (const Exercise &e : lab.exercises)
      if (!folder.right.count(e.id))
        return &e;
    return llvm::createStringError("lab " + lab.number +
                                   ": all was right at the last check; name "
                                   "an exercise for its hints");
  }
  if (const Exercise *e = lab.find(id))
    return e;
  std::vector<std::string> ids;
  for (const Exercise &e : lab.exercises)
    ids.push_back(e.id);
  return llvm::createStringError("lab " + lab.number + " has no exercise " + id + "; it has " +
                                 llvm::join(ids, ", "));
}

llvm::Expected<Hint> nextHint(const Lab &lab, Folder &folder, llvm::StringRef id) {
  auto exercise = choose(lab, folder, id);
  if (!exercise)
    return exercise.takeError();
  const Exercise &e = **exercise;
  size_t given = folder.hintsGiven[e.id];
  Hint hint{e.id, given + 1, e.hints.size(), std::nullopt};
  if (given >= e.hints.size())
    return hint;
  hint.text = e.hints[given];
  ++folder.hintsGiven[e.id];
  if (llvm::Error error = folder.save())
    return std::move(error);
  return hint;
}

} // namespace vetro::labs
