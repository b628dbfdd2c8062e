// What `diff` and `bisect` say of the first bad value, and of figures.
#pragma once

#include "runtime/cli/Output.h"
#include "runtime/compare/Blame.h"

namespace vetro::cli {

/// JSON has no infinity: null, which "equal" explains.
Json finite(double value);
/// "103.2" or "equal".
std::string decibels(double snr);

/// The first bad value as an object, or null.
Json firstJson(const std::optional<FirstBad> &first);
/// The same for people, on stdout.
void printFirst(const std::optional<FirstBad> &first);

} // namespace vetro::cli
