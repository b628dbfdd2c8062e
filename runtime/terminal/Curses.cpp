// Keys from and lines to a terminal.
#include "runtime/terminal/Curses.h"
#include "runtime/memory/Signals.h"

#include <clocale>
#include <cwchar>
#include <langinfo.h>
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1 // move and erase are others' names too
#include <curses.h>

namespace vetro::terminal {

using screens::Tone;

namespace {
class Window {
public:
  Window() {
    std::setlocale(LC_ALL, "");
    ascii = llvm::StringRef(nl_langinfo(CODESET)) != "UTF-8";
    initscr();
    raw(), noecho(), keypad(stdscr, TRUE), set_escdelay(25), curs_set(0);
    if (has_colors()) {
      start_color(), use_default_colors();
      init_pair(1, COLOR_GREEN, -1), init_pair(2, COLOR_RED, -1), init_pair(3, COLOR_CYAN, -1);
    }
  }
  ~Window() { endwin(); }

  void draw(llvm::ArrayRef<Line> lines) {
    erase();
    for (auto [y, line] : llvm::enumerate(lines)) {
      move(int(y), 0);
      for (const Span &span : line) {
        attrset(attributes(span.style));
        addstr(span.text.c_str());
      }
    }
    attrset(A_NORMAL);
    refresh();
  }

  /// The next key; empty: the window's size changed, or nothing that means anything.
  screens::Key key() {
    wint_t c;
    int kind = get_wch(&c);
    if (kind == ERR)
      return interrupted() ? "q" : "";
    static constexpr std::pair<int, const char *> special[] = {
        {KEY_UP, "Up"},        {KEY_DOWN, "Down"},
        {KEY_LEFT, "Left"},    {KEY_RIGHT, "Right"},
        {KEY_PPAGE, "PageUp"}, {KEY_NPAGE, "PageDown"},
        {KEY_HOME, "Home"},    {KEY_END, "End"},
        {KEY_ENTER, "Enter"},  {KEY_BACKSPACE, "Backspace"}};
    if (kind == KEY_CODE_YES) {
      for (auto [code, name] : special)
        if (int(c) == code)
          return name;
      return "";
    }
    switch (c) {
    case '\n':
    case '\r':
      return "Enter";
    case '\t':
      return "Tab";
    case ' ':
      return "Space";
    case 27:
      return "Escape";
    case 8:
    case 127:
      return "Backspace";
    case 3: // Ctrl-C
      return "q";
    default:
      break;
    }
    char bytes[MB_LEN_MAX + 1] = {};
    std::mbstate_t state = {};
    size_t n = std::wcrtomb(bytes, wchar_t(c), &state);
    return n == size_t(-1) ? "" : std::string(bytes, n);
  }

  /// In the corner, until the next picture: what was asked for may take a while.
  void showBusy() {
    attrset(A_REVERSE | A_BOLD);
    mvaddstr(0, std::max(0, COLS - 3), ascii ? " * " : " … ");
    attrset(A_NORMAL);
    refresh();
  }

  /// A line typed at the bottom; none: Escape.
  std::optional<std::string> ask(llvm::StringRef words) {
    std::string line;
    curs_set(1);
    for (;;) {
      move(LINES - 1, 0), clrtoeol();
      attrset(A_BOLD);
      std::string shown = fit((words + ": ").str() + line, unsigned(std::max(1, COLS - 1)));
      addstr(shown.c_str());
      attrset(A_NORMAL);
      refresh();
      screens::Key k = key();
      if (k == "Enter" || k == "Escape") {
        curs_set(0);
        return k == "Enter" ? std::optional(line) : std::nullopt;
      }
      if (k == "Backspace")
        while (!line.empty() && (line.back() & 0xC0) == 0x80)
          line.pop_back(); // the bytes that follow a character's first
      if (k == "Backspace" && !line.empty())
        line.pop_back();
      else if (k == "Space")
        line += ' ';
      else if (columns(k) <= 2 && k.size() <= 4 && k != "Up" && k != "")
        line += k;
    }
  }

  bool ascii = false;

private:
  static attr_t attributes(Style style) {
    attr_t bits = style.inverse ? A_REVERSE : A_NORMAL;
    bool colours = has_colors();
    switch (style.tone) {
    case Tone::Plain:
      return bits;
    case Tone::Dim:
      return bits | A_DIM;
    case Tone::Strong:
      return bits | A_BOLD;
    case Tone::Good:
      return bits | (colours ? COLOR_PAIR(1) : A_NORMAL);
    case Tone::Bad:
      return bits | A_BOLD | (colours ? COLOR_PAIR(2) : A_UNDERLINE);
    case Tone::Accent:
      return bits | A_BOLD | (colours ? COLOR_PAIR(3) : A_NORMAL);
    }
    llvm_unreachable("all tones are above");
  }
};
} // namespace

llvm::Error run(screens::Stepper &stepper) {
  Window window;
  View view;
  view.ascii = window.ascii;
  stepper.progress = [&](double fraction) {
    std::string bar = "running again " + std::to_string(int(fraction * 100)) + " %";
    move(LINES - 2, 0), clrtoeol();
    addstr(bar.c_str());
    refresh();
  };
  screens::Screen screen = stepper.screen();
  while (!stepper.done()) {
    view.width = unsigned(std::max(20, COLS)), view.height = unsigned(std::max(8, LINES));
    window.draw(picture(stepper, screen, view));
    screens::Key key = window.key();
    if (key.empty())
      continue;
    std::string words = screens::Stepper::asks(key);
    std::optional<std::string> line =
        words.empty() ? std::optional<std::string>("") : window.ask(words);
    if (!line)
      continue;
    window.showBusy();
    press(stepper, view, key, *line);
    screen = stepper.screen();
  }
  stepper.progress = {};
  return llvm::Error::success();
}

} // namespace vetro::terminal
