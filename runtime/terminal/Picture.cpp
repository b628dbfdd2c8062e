// Header, strip of steps, sentence, tables, message, keys.
#include "runtime/terminal/Picture.h"
#include "runtime/terminal/Tables.h"

namespace vetro::terminal {

using screens::Cell;
using screens::Tone;

/// False: the key does something else.
static bool scroll(const screens::Key &key, View &view) {
  size_t page = view.height / 2;
  if (key == "PageDown")
    view.scroll += page;
  else if (key == "PageUp")
    view.scroll -= std::min(view.scroll, page);
  else if (key == "Home")
    view.scroll = 0;
  else if (key == "End")
    view.scroll = SIZE_MAX / 2;
  else
    return false;
  view.followRow = false;
  return true;
}

void press(screens::Stepper &stepper, View &view, const screens::Key &key, llvm::StringRef line) {
  if (scroll(key, view))
    return;
  screens::Place before = stepper.place();
  bool helped = stepper.helps();
  stepper.press(key, line);
  view.followRow = true;
  if (!(before == stepper.place()) || helped != stepper.helps())
    view.scroll = 0;
}

/// The sixteen steps in their order, with the one that is shown in brackets.
static Line strip(const screens::Screen &screen) {
  Line line;
  llvm::StringRef group;
  for (const screens::CycleStep &step : screens::cycle()) {
    bool here = step.number == screen.step;
    if (step.group != group && !group.empty())
      line.push_back({" │", {Tone::Dim, false}});
    group = step.group;
    std::string number = std::to_string(step.number);
    line.push_back(
        {here ? "[" + number + "]" : " " + number, {here ? Tone::Accent : Tone::Dim, here}});
    if (here)
      line.push_back({std::string(" ") + step.name, {Tone::Strong, false}});
  }
  return line;
}

static Line header(screens::Stepper &stepper) {
  const screens::Json &d = stepper.recording().document();
  const screens::Json &token = d["tokens"][stepper.place().token];
  std::string text = " Vetro  " + screens::shown(d["model"]["name"].get<std::string>()) +
                     "  token " + std::to_string(stepper.place().token) + " of " +
                     std::to_string(d["tokens"].size()) + "  “" +
                     screens::shown(token["piece"].get<std::string>()) + "”";
  if (stepper.nEdits() > 0)
    text += "  edited " + std::to_string(stepper.nEdits()) + "x";
  text += stepper.recording().model() ? "" : "  trace only";
  return {{text, {Tone::Strong, true}}};
}

static std::vector<Line> helpLines(unsigned width) {
  std::vector<Line> lines;
  for (auto [keys, does] : screens::keyHelp()) {
    constexpr unsigned label = 13;
    auto words = paragraph({{does, {}}}, width > label + 4 ? width - label : 4);
    for (size_t i = 0; i < words.size(); ++i) {
      std::string left = i == 0 ? keys : "";
      left.resize(label, ' ');
      Line line = {{left, {Tone::Accent, false}}};
      llvm::append_range(line, words[i]);
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

/// What stays of the lines when `height` of them are shown from view.scroll on.
static std::vector<Line> window(std::vector<Line> lines, unsigned height, size_t chosenLine,
                                View &view) {
  if (view.followRow && chosenLine < lines.size()) {
    if (chosenLine < view.scroll)
      view.scroll = chosenLine;
    if (chosenLine >= view.scroll + height)
      view.scroll = chosenLine - height + 1;
  }
  size_t most = lines.size() > height ? lines.size() - height : 0;
  view.scroll = std::min(view.scroll, most);
  view.more = view.scroll < most;
  lines.erase(lines.begin(), lines.begin() + view.scroll);
  lines.resize(height);
  return lines;
}

/// The map beside the tables, if there is room.
static std::vector<Line> body(screens::Stepper &stepper, const screens::Screen &screen,
                              unsigned height, View &view) {
  std::vector<Line> left;
  unsigned leftWidth = 0;
  if (!screen.map.rows.empty() && view.width >= 60) {
    leftWidth = std::min<unsigned>(unsigned(screen.map.header.size()) + 6, view.width / 3);
    size_t here = 0;
    for (auto [i, row] : llvm::enumerate(screen.map.rows))
      if (llvm::any_of(row, [](const Cell &c) { return c.tone == Tone::Accent; }))
        here = i;
    View own{leftWidth, height, here > height / 2 ? here - height / 2 : 0};
    left = window(mapLines(screen.map, leftWidth), height, here, own);
  }
  size_t chosenLine = SIZE_MAX;
  unsigned width = view.width - leftWidth - (leftWidth ? 2 : 0);
  std::vector<Line> right = window(
      tableLines(screen.tables, width, stepper.place().row, chosenLine), height, chosenLine, view);
  if (leftWidth == 0)
    return right;
  for (unsigned i = 0; i < height; ++i) {
    Line line = exactly(std::move(left[i]), leftWidth);
    line.push_back({"│ ", {Tone::Dim, false}});
    llvm::append_range(line, right[i]);
    right[i] = std::move(line);
  }
  return right;
}

std::vector<Line> picture(screens::Stepper &stepper, const screens::Screen &screen, View &view) {
  std::vector<Line> lines = {exactly(header(stepper), view.width), strip(screen)};
  std::vector<Span> sentence;
  for (const Cell &cell : screen.sentence)
    sentence.push_back({cell.text, {cell.tone, false}});
  if (!stepper.helps()) { // whose list fills the screen
    llvm::append_range(lines, paragraph(sentence, view.width));
    lines.emplace_back();
  }
  Style style{stepper.messageIsError() ? Tone::Bad : Tone::Accent, false};
  std::vector<Line> message = paragraph({{stepper.message(), style}}, view.width);
  size_t around = lines.size() + message.size() + 1;
  unsigned rest = view.height > around ? unsigned(view.height - around) : 1;
  if (stepper.helps())
    llvm::append_range(lines, window(helpLines(view.width), rest, SIZE_MAX, view));
  else
    llvm::append_range(lines, body(stepper, screen, rest, view));
  llvm::append_range(lines, message);
  lines.push_back(
      {{view.more ? "PageDown more  " : "", {Tone::Accent, false}},
       {"Space step  n p op  N P layer  t T token  Enter  Tab  ? help", {Tone::Dim, false}}});
  lines.resize(view.height);
  for (Line &line : lines) {
    if (view.ascii)
      for (Span &span : line)
        span.text = asciiOf(span.text);
    if (columns(line) > view.width)
      line = exactly(std::move(line), view.width);
  }
  return lines;
}

} // namespace vetro::terminal
