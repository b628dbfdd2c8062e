// The stepper in a terminal, by ncurses.
#pragma once

#include "runtime/terminal/Picture.h"

namespace vetro::terminal {

/// Shows the stepper until it is done. Error: there is no terminal.
llvm::Error run(screens::Stepper &stepper);

} // namespace vetro::terminal
