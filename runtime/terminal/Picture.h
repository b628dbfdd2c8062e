// The whole picture of a place in a recording, as lines: what the terminal and a script print.
#pragma once

#include "runtime/screens/Stepper.h"
#include "runtime/terminal/Text.h"

namespace vetro::terminal {

struct View {
  unsigned width = 80, height = 24;
  size_t scroll = 0;     ///< lines of the tables above the first one that is shown
  bool followRow = true; ///< scroll to the chosen row
  bool more = false;     ///< lines below what was shown
  bool ascii = false;    ///< the terminal shows no other characters
};

/// Scrolls by PageUp, PageDown, Home, End, and hands other keys, with the line that was typed where
/// the key asks for one, to the stepper.
void press(screens::Stepper &stepper, View &view, const screens::Key &key, llvm::StringRef line);

/// `view.height` lines. Sets view.scroll to what was shown.
std::vector<Line> picture(screens::Stepper &stepper, const screens::Screen &screen, View &view);

} // namespace vetro::terminal
