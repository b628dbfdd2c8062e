// Where a model's mapped file and the handler of faults (runtime/memory/Signals.h) meet.
#pragma once

#include "runtime/engine/Options.h"

namespace vetro {

/// Makes a file that is opened by these options, and cut while it is mapped, an error that
/// checkNotCut() finds, instead of the end of the process.
void catchFaults(ModelOptions &options);

/// An error if bytes of the file were gone when they were read: they read as zeros, so that what
/// was made of them is worth nothing. Other files do not matter. Any thread.
llvm::Error checkNotCut(const gguf::File &file);

} // namespace vetro
