// From a value to where it comes from and who uses it, in a trace's graph.
#pragma once

#include "runtime/screens/Cycle.h"

namespace vetro::screens {

/// The steps of the plan whose results a step reads (or, `users`, that read its results), nearest
/// first; what only gives numbers another shape lies between. Errors: the trace's graph is damaged.
llvm::Expected<std::vector<size_t>> stepsBeside(const Recording &recording, size_t op, bool users);

} // namespace vetro::screens
