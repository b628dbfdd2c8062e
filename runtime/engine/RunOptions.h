// How a run was made, kept in its dump, so that a comparison runs the same again.
#pragma once

#include "runtime/engine/Options.h"
#include "runtime/trace/TensorFile.h"

namespace vetro {

/// What decides the numbers of a run, as one JSON object: overridden keys, KV type, passes switched
/// off, activation formats, instruction set level.
std::string describeRun(const ModelOptions &options);

/// Sets those options as `text`, which describeRun() wrote, tells. False: it did not write it.
bool takeRunOptions(llvm::StringRef text, ModelOptions &options);
/// Sets those options as the file's metadata "run" tells; none there: nothing is set. Error: it is
/// not what describeRun() writes.
llvm::Error takeRunOptions(const TensorFile &file, ModelOptions &options);

} // namespace vetro
