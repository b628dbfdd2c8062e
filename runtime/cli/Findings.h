// What `diff` and `bisect` say of the first bad value, and of figures.
#pragma once

#include "runtime/cli/Output.h"
#include "runtime/compare/Blame.h"
#include "runtime/compare/Metrics.h"

namespace vetro::cli {

/// JSON has no infinity: null, which "equal" explains.
Json finite(double value);
/// "103.2" or "equal".
std::string decibels(double snr);

/// Three significant digits: "0.0123".
std::string significant(double value);
/// What a user sees of the logits, as one line.
std::string logitsText(const LogitDifference &logits);

/// "graph error, 140 times its floor".
std::string verdictOf(const FirstBad &first);
/// What is known about it: {"made by", "rope"}, {"reading", "blk.0.attn_q.weight"}.
std::vector<std::pair<llvm::StringRef, std::string>> detailsOf(const FirstBad &first);
/// What an error of this kind means; "" where there is nothing to say.
llvm::StringRef adviceFor(llvm::StringRef kind);

/// The first bad value as an object, or null.
Json firstJson(const std::optional<FirstBad> &first);
/// The same for people, on stdout.
void printFirst(const std::optional<FirstBad> &first);

} // namespace vetro::cli
