// Moments and what stops at them.
#include "runtime/screens/Breakpoint.h"
#include "runtime/screens/Fate.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"
#include <cmath>

namespace vetro::screens {

// ---- moments ----

static size_t nStages(const Json &d, size_t token) {
  const Json &t = d["tokens"][token];
  return t.contains("sampled") ? t["sampled"]["stages"].size() : 0;
}

/// How many moments of the same kind lie beside this one.
static size_t nBeside(const Json &d, const Moment &m) {
  switch (m.kind) {
  case Moment::Rewrite:
    return d["passes"][m.index]["rewrites"].size();
  case Moment::Op:
    return d["steps"].size();
  case Moment::Stage:
    return nStages(d, m.token);
  }
  llvm_unreachable("three kinds");
}

/// Groups of moments follow each other: passes, then each token's ops and its stages. The group
/// after or before one, at its first or last moment; it may be empty.
static std::optional<Moment> nextGroup(const Json &d, size_t nRun, Moment m, bool back) {
  size_t nPasses = d["passes"].size();
  if (m.kind == Moment::Rewrite) {
    if (back ? m.index > 0 : m.index + 1 < nPasses)
      return Moment{Moment::Rewrite, 0, back ? m.index - 1 : m.index + 1, 0};
    return back || nRun == 0 ? std::nullopt : std::optional(Moment{Moment::Op, 0, 0, 0});
  }
  if (m.kind == Moment::Op) {
    if (!back)
      return Moment{Moment::Stage, m.token, 0, 0};
    if (m.token > 0)
      return Moment{Moment::Stage, m.token - 1, 0, 0};
    return nPasses ? std::optional(Moment{Moment::Rewrite, 0, nPasses - 1, 0}) : std::nullopt;
  }
  if (back)
    return Moment{Moment::Op, m.token, 0, 0};
  return m.token + 1 < nRun ? std::optional(Moment{Moment::Op, m.token + 1, 0, 0}) : std::nullopt;
}

std::optional<Moment> nextMoment(const Json &d, size_t nRun, Moment m, bool back) {
  size_t &at = m.kind == Moment::Rewrite ? m.part : m.index;
  if (back ? at > 0 : at + 1 < nBeside(d, m)) {
    at += back ? size_t(-1) : 1;
    return m;
  }
  for (auto group = nextGroup(d, nRun, m, back); group; group = nextGroup(d, nRun, *group, back)) {
    size_t n = nBeside(d, *group);
    if (n == 0)
      continue;
    if (back)
      (group->kind == Moment::Rewrite ? group->part : group->index) = n - 1;
    return group;
  }
  return std::nullopt;
}

Moment momentOf(const Place &place) {
  if (place.step < 11)
    return {Moment::Rewrite, 0, place.step < 4 ? 0 : place.pass, 0};
  if (place.step < 14)
    return {Moment::Op, place.token, place.op, 0};
  return {Moment::Stage, place.token, place.step == 15 ? place.row : 0, 0};
}

Place placeOf(const Moment &m, Place place) {
  place.row = 0;
  if (m.kind == Moment::Rewrite) {
    place.step = 3, place.row = place.pass = m.index;
  } else if (m.kind == Moment::Op) {
    place.step = 13, place.token = m.token, place.op = m.index;
  } else {
    place.step = 15, place.token = m.token, place.row = m.index;
  }
  return place;
}

// ---- breakpoints ----

llvm::Expected<Breakpoint> Breakpoint::read(llvm::StringRef text) {
  Breakpoint b;
  text = text.trim();
  b.words = text.str();
  auto refused = [&](const llvm::Twine &why) {
    return llvm::createStringError("breakpoint '" + shown(text) + "': " + why);
  };
  static constexpr std::pair<const char *, Kind> prefixes[] = {
      {"op:", Kind::OpName},           {"layer:", Kind::Layer}, {"absmax>", Kind::AbsMax},
      {"diff.snr<", Kind::Difference}, {"token:", Kind::Token}, {"pass:", Kind::Pass},
      {"rewrite:", Kind::Rewrite},     {"drop:", Kind::Drop}};
  llvm::StringRef rest = text;
  bool found = false;
  for (auto [prefix, kind] : prefixes)
    if (!found && rest.consume_front(prefix))
      b.kind = kind, found = true;
  if (text == "nan")
    b.kind = Kind::Nan;
  b.argument = rest.str();
  if (rest.empty())
    return refused("expected such as " + breakpointForms);
  if ((b.kind == Kind::AbsMax || b.kind == Kind::Difference) && rest.getAsDouble(b.bound))
    return refused("expected a number after > or <");
  if (b.kind == Kind::Layer && rest.getAsInteger(10, b.layer))
    return refused("expected a layer's number");
  if (b.kind == Kind::Drop) {
    auto [stage, piece] = rest.split(':');
    b.argument = stage.str(), b.piece = piece.str();
    if (piece.empty())
      return refused("expected drop:STAGE:PIECE");
  }
  if (b.kind == Kind::ValueName)
    if (auto glob = llvm::GlobPattern::create(b.argument); !glob)
      return refused(llvm::toString(glob.takeError()));
  return b;
}

bool Breakpoint::hitsOp(const Json &step) const {
  if (kind == Kind::OpName)
    return step["op"] == argument;
  auto glob = llvm::cantFail(llvm::GlobPattern::create(argument));
  for (const char *field : {"values", "inside"})
    for (const Json &name : step[field])
      if (name != "" && glob.match(name.get_ref<const std::string &>()))
        return true;
  return false;
}

llvm::Expected<bool> Breakpoint::hitsValues(Recording &recording, const Moment &m) const {
  // All that ran of the token at once: it is visited once.
  const Json &steps = recording.document()["steps"];
  std::vector<std::string> names;
  for (const Json &step : steps)
    for (const Json &name : step["values"])
      if (recording.isRan(m.token, name.get_ref<const std::string &>()))
        names.push_back(name);
  auto values = recording.values(m.token, names);
  if (!values)
    return values.takeError();
  for (const HookValue &value : *values)
    if (listHas(steps[m.index]["values"], value.tensor.name))
      for (float x : value.tensor.data)
        if (kind == Kind::Nan ? std::isnan(x) : std::fabs(x) > bound)
          return true;
  return false;
}

llvm::Expected<bool> Breakpoint::hitsDifference(const Recording &recording, const Moment &m) const {
  if (recording.comparison().is_null())
    return llvm::createStringError(words + ": this run is compared with nothing: open it with "
                                           "--diff FILE, which vetro diff --json printed");
  for (const Json &name : recording.document()["steps"][m.index]["values"])
    if (auto i = recording.comparisonRow(name.get_ref<const std::string &>())) {
      const Json &row = recording.comparison()["rows"][*i];
      if (row["snr_db"].is_number() ? row["snr_db"] < bound : row["equal"] == false)
        return true;
    }
  return false;
}

llvm::Expected<bool> Breakpoint::hitsStage(Recording &recording, const Moment &m) const {
  const Json &stage = recording.document()["tokens"][m.token]["sampled"]["stages"][m.index];
  if (stage["name"] != argument || stage["active"] == false)
    return false;
  auto fates = Fates::of(recording, m.token);
  if (!fates)
    return fates.takeError();
  return llvm::any_of(fates->idsOf(piece), [&](int32_t id) {
    Fate fate = (*fates)[id];
    return (fate.end == Fate::Dropped || fate.end == Fate::Stayed) && fate.stage == m.index;
  });
}

llvm::Expected<bool> Breakpoint::hits(Recording &recording, const Moment &m) const {
  const Json &d = recording.document();
  switch (kind) {
  case Kind::OpName:
  case Kind::ValueName:
    return m.kind == Moment::Op && hitsOp(d["steps"][m.index]);
  case Kind::Layer:
    return m.kind == Moment::Op && layerOf(d, m.index) == layer &&
           (m.index == 0 || layerOf(d, m.index - 1) != layer);
  case Kind::Nan:
  case Kind::AbsMax:
    return m.kind == Moment::Op ? hitsValues(recording, m) : false;
  case Kind::Difference:
    return m.kind == Moment::Op ? hitsDifference(recording, m) : false;
  case Kind::Token: {
    std::string bytes;
    llvm::tryGetFromHex(d["tokens"][m.token]["bytes"].get_ref<const std::string &>(), bytes);
    return m.kind == Moment::Op && m.index == 0 &&
           llvm::StringRef(bytes).trim() == llvm::StringRef(argument).trim();
  }
  case Kind::Pass:
  case Kind::Rewrite: {
    if (m.kind != Moment::Rewrite)
      return false;
    const Json &pass = d["passes"][m.index];
    const Json &rewrite = pass["rewrites"][m.part];
    return kind == Kind::Pass
               ? pass["pass"] == argument && m.part == 0
               : llvm::StringRef(rewrite["what"].get_ref<const std::string &>()).contains(argument);
  }
  case Kind::Drop:
    return m.kind == Moment::Stage ? hitsStage(recording, m) : false;
  }
  llvm_unreachable("all kinds are above");
}

} // namespace vetro::screens
