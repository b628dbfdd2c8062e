// Keys.
#include "runtime/screens/Stepper.h"
#include "runtime/screens/Cells.h"
#include "runtime/screens/Fate.h"
#include "runtime/screens/Flow.h"

#include "llvm/ADT/StringExtras.h"

namespace vetro::screens {

Stepper::Stepper(std::unique_ptr<Recording> recording, RecordOptions options, std::string command)
    : options(std::move(options)), typed(std::move(command)) {
  recordings.push_back(std::move(recording));
  size_t nPrompt = document()["prompt"]["ids"].size();
  at.token = nPrompt > 0 ? nPrompt - 1 : 0;
}

void Stepper::sayError(llvm::Error error) {
  said = shown(llvm::toString(std::move(error))), failed = true;
}

// ---- moving ----

void Stepper::walkCycle(bool back) {
  size_t nPrompt = document()["prompt"]["ids"].size();
  at.row = 0, at.inside = false;
  if (back) {
    if (at.step == 11 && at.token >= nPrompt)
      at.step = 16, --at.token;
    else if (at.step > 1)
      --at.step;
    return;
  }
  if (at.step < 16) {
    ++at.step;
  } else if (at.token + 1 < recording().nRun()) {
    at.step = 11, ++at.token; // the token enters again
  } else {
    say("the run ended here: " + document()["stop"].get<std::string>());
  }
}

void Stepper::moveOp(int by) {
  size_t n = document()["steps"].size();
  if (at.step != 13)
    at.step = 13;
  else if (by > 0 ? at.op + 1 < n : at.op > 0)
    at.op += size_t(by);
  at.row = 0;
}

void Stepper::moveLayer(int by) {
  at.step = 13, at.row = 0;
  const Json &d = document();
  size_t n = d["steps"].size(), op = at.op;
  int64_t layer = layerOf(d, op);
  // To the same op of the next layer, or to the first one with a layer.
  const Json &kind = d["steps"][op]["op"];
  auto move = [&](auto fits) {
    for (size_t i = op + size_t(by); i < n; i += size_t(by))
      if (fits(i)) {
        at.op = i;
        return true;
      }
    return false;
  };
  if (move([&](size_t i) {
        return d["steps"][i]["op"] == kind && layerOf(d, i) == layer + by && layer >= 0;
      }))
    return;
  move([&](size_t i) { return layerOf(d, i) != layer; });
}

void Stepper::moveToken(int by) {
  size_t n = document()["tokens"].size();
  if (by > 0 ? at.token + 1 < n : at.token > 0)
    at.token += size_t(by);
}

void Stepper::turnPass(int by) {
  const Json &passes = document()["passes"];
  at.step = 13, at.tab = Tab::Ir;
  for (size_t i = at.pass + size_t(by); i < passes.size(); i += size_t(by))
    if (passes[i].contains("ir") &&
        passes[i]["ir"].is_string()) { // those that changed nothing are left out
      at.pass = i;
      return;
    }
}

void Stepper::moveRow(int by) {
  size_t n = 0;
  for (const Table &table : screen().tables)
    if (table.chooses)
      n = table.rows.size();
  if (by > 0 ? at.row + 1 < n : at.row > 0)
    at.row += size_t(by);
}

void Stepper::enter() {
  if (at.step == 3) {
    at.pass = std::min(at.row, document()["passes"].size() - 1);
    at.step = 13, at.tab = Tab::Ir, at.row = 0;
  } else {
    at.inside = true;
    if (at.step == 13)
      at.tab = Tab::Values;
  }
}

void Stepper::nextTab() {
  at.row = 0, at.tab = at.step == 13 ? Tab((int(at.tab) + 1) % 4) : Tab::Ir;
  at.step = 13;
  if (at.tab == Tab::Heads && headsOf(document(), at.op).empty())
    at.tab = Tab::Ir;
}

void Stepper::follow(bool toUsers) {
  at.step = 13;
  auto found = stepsBeside(recording(), at.op, toUsers);
  if (!found)
    return sayError(found.takeError());
  if (found->empty())
    return say(toUsers ? "nothing reads it" : "it reads weights, ids and the cache only");
  std::string others;
  for (size_t op : llvm::ArrayRef(*found).drop_front())
    others += (others.empty() ? "; also " : ", ") + opName(document(), op);
  at.op = found->front(), at.row = 0;
  say((toUsers ? "read by " : "from ") + opName(document(), at.op) + others);
}

void Stepper::nextMetric() {
  size_t n = metrics().size() - (recording().comparison().is_null() ? 1 : 0);
  at.metric = metrics()[(size_t(at.metric) + 1) % n].first;
  say(std::string("map: ") + metrics()[size_t(at.metric)].second);
}

void Stepper::search(llvm::StringRef text) {
  const Json &steps = document()["steps"];
  size_t n = steps.size();
  for (size_t k = 1; k <= n; ++k) {
    size_t op = (at.op + k) % n;
    for (const char *field : {"values", "inside"})
      for (const Json &name : steps[op][field])
        if (llvm::StringRef(name.get_ref<const std::string &>()).contains(text)) {
          at.step = 13, at.op = op, at.row = 0;
          return say("found " + shown(name.get_ref<const std::string &>()));
        }
  }
  said = "no value has " + shown(text) + " in its name", failed = true;
}

// ---- breakpoints ----

void Stepper::addBreakpoint(llvm::StringRef text) {
  unsigned number;
  if (text.trim().empty()) {
    std::string list;
    for (auto [i, b] : llvm::enumerate(breakpoints))
      list += (i ? "   " : "") + std::to_string(i + 1) + ": " + shown(b.text());
    return say(list.empty() ? "no breakpoints" : list + "   (-1 takes the first away)");
  }
  if (llvm::StringRef rest = text.trim();
      rest.consume_front("-") && !rest.getAsInteger(10, number)) {
    if (number == 0 || number > breakpoints.size()) {
      said = "there is no breakpoint " + std::to_string(number), failed = true;
      return;
    }
    breakpoints.erase(breakpoints.begin() + (number - 1));
    return say("breakpoint taken away");
  }
  auto breakpoint = Breakpoint::read(text);
  if (!breakpoint)
    return sayError(breakpoint.takeError());
  breakpoints.push_back(std::move(*breakpoint));
  say("breakpoint " + std::to_string(breakpoints.size()) + " set; c goes on to it, C back");
}

void Stepper::walkToBreakpoint(bool back) {
  if (breakpoints.empty())
    return say("no breakpoints: b sets one");
  auto moment = nextMoment(document(), recording().nRun(), momentOf(at), back);
  for (; moment; moment = nextMoment(document(), recording().nRun(), *moment, back))
    for (const Breakpoint &b : breakpoints) {
      auto hit = b.hits(recording(), *moment);
      if (!hit)
        return sayError(hit.takeError());
      if (!*hit)
        continue;
      at = placeOf(*moment, at);
      return say("stopped at " + shown(b.text()));
    }
  say(back ? "nothing before here stops at a breakpoint"
           : "nothing after here stops at a breakpoint");
}

// ---- edits ----

void Stepper::edit(llvm::StringRef text) {
  if (!recording().model())
    return sayError(
        llvm::createStringError("an edit runs the model again: open the trace with --model"));
  // Without places it is meant at this token.
  size_t equals = text.find('=');
  std::string whole = text.str();
  if (equals != llvm::StringRef::npos && !text.take_front(equals).contains('[')) {
    size_t end = text.take_front(equals).find_last_not_of(" +*");
    whole =
        (text.take_front(end + 1) + "[" + llvm::Twine(at.token) + "]" + text.drop_front(end + 1))
            .str();
  }
  auto edit = parseEdit(whole);
  if (!edit)
    return sayError(edit.takeError());
  RecordOptions again = options;
  again.edits.push_back(std::move(*edit));
  const Json &prompt = document()["prompt"];
  std::vector<int32_t> ids = prompt["ids"];
  std::string promptText = prompt.value("text", "");
  TracedPrompt traced{ids, prompt.contains("text") ? &promptText : nullptr, options.parseSpecial};
  size_t nTokens = 0;
  again.onText = [&](llvm::StringRef) {
    if (progress)
      progress(double(++nTokens) / std::max(1u, again.generate.nPredict));
  };
  auto made = Recording::record(recordings.front()->sharedModel(), traced, again);
  if (!made)
    return sayError(made.takeError());
  // What the values' steps are may have changed: stay at the same name.
  std::string name = opName(document(), at.op);
  options.edits = again.edits;
  recordings.push_back(std::move(*made));
  if (at.metric == Metric::Difference) // the comparison is of the run before
    at.metric = Metric::Rms;
  at.op = opWith(document(), name).value_or(0);
  at.token = std::min(at.token, document()["tokens"].size() - 1);
  say("edited: " + shown(whole) + "; z takes it back");
}

void Stepper::undo() {
  if (recordings.size() == 1)
    return say("nothing is edited");
  std::string name = opName(document(), at.op);
  recordings.pop_back();
  options.edits.pop_back();
  at.op = opWith(document(), name).value_or(0);
  at.token = std::min(at.token, document()["tokens"].size() - 1);
  say("edit taken back");
}

/// What became of a piece; goes to the stage that dropped it.
void Stepper::why(llvm::StringRef piece) {
  auto found = whyNot(recording(), at.token, piece);
  if (!found)
    return sayError(found.takeError());
  if (found->stage)
    at.step = 15, at.row = *found->stage;
  say(found->words);
}

// ---- keys ----

llvm::ArrayRef<std::pair<const char *, const char *>> keyHelp() {
  static const std::string breakpointWords = "breakpoint: " + breakpointForms.str();
  static const std::pair<const char *, const char *> keys[] = {
      {"Space Left", "next, previous of the sixteen steps; after the last the next token"},
      {"n p", "next, previous op"},
      {"N P", "next, previous layer"},
      {"t T", "next, previous token"},
      {"Enter Escape", "into it: values inside a fused op, a pass, the lens; out again"},
      {"Tab", "values, heads of an attention, IR, machine code"},
      {"m", "shade the map by rms, largest number, time, difference (--diff)"},
      {"[ ]", "the compiler's previous, next pass"},
      {"Up Down", "choose a row; PageUp, PageDown: scroll"},
      {"u o", "where it comes from; who uses it"},
      {"/", "find a value by its name"},
      {":", "go: a step, a value, token N"},
      {"b", breakpointWords.c_str()},
      {"c C", "go on to a breakpoint; back to one"},
      {"e", "edit a value and run again: blk.5.l_out[7,3] = 0"},
      {"z", "take the last edit back"},
      {"w", "why was this piece not drawn?"},
      {"y", "the command that shows this again"},
      {"? q", "this help; quit"},
  };
  return keys;
}

std::string Stepper::asks(const Key &key) {
  static constexpr std::pair<const char *, const char *> lines[] = {
      {"/", "find"}, {":", "go to"}, {"b", "break at"}, {"e", "edit"}, {"w", "why not"}};
  for (auto [name, words] : lines)
    if (key == name)
      return words;
  return "";
}

void Stepper::press(const Key &key, llvm::StringRef line) {
  said.clear(), failed = false;
  if (std::exchange(help, false))
    return;
  auto is = [&](auto... names) { return ((key == names) || ...); };
  if (is("Space", "Right", "Left"))
    walkCycle(key == "Left");
  else if (is("n", "p"))
    moveOp(key == "n" ? 1 : -1);
  else if (is("N", "P"))
    moveLayer(key == "N" ? 1 : -1);
  else if (is("t", "T"))
    moveToken(key == "t" ? 1 : -1);
  else if (is("m"))
    nextMetric();
  else if (is("[", "]"))
    turnPass(key == "]" ? 1 : -1);
  else if (is("Up", "Down", "k", "j"))
    moveRow(is("Down", "j") ? 1 : -1);
  else if (is("Enter"))
    enter();
  else if (is("Escape"))
    at.inside = false, at.tab = Tab::Values;
  else if (is("Tab"))
    nextTab();
  else if (is("u", "o"))
    follow(key == "o");
  else if (is("c", "C"))
    walkToBreakpoint(key == "C");
  else if (is("z"))
    undo();
  else if (is("y"))
    say(command());
  else if (is("?"))
    help = true;
  else if (is("q"))
    quit = true;
  else if (is("/"))
    search(line);
  else if (is("b"))
    addBreakpoint(line);
  else if (is("e"))
    edit(line);
  else if (is("w"))
    why(line);
  else if (is(":")) {
    auto place = readPlace(recording(), line, at);
    if (!place)
      return sayError(place.takeError());
    at = *place;
  }
}

Screen Stepper::screen() {
  auto drawn = draw(recording(), at);
  if (drawn)
    return std::move(*drawn);
  Screen broken;
  broken.step = at.step;
  broken.title = std::to_string(at.step);
  broken.sentence = {{shown(llvm::toString(drawn.takeError())), Tone::Bad}};
  return broken;
}

std::string Stepper::command() const {
  std::string text = typed;
  for (const Edit &edit : options.edits)
    text += " -e '" + edit.text + "'";
  return text + " --at '" + placeText(*recordings.back(), at) + "'";
}

} // namespace vetro::screens
