// What `vetro inspect` finds out about a file, as JSON; the text form prints the same object.
#pragma once

#include "runtime/cli/Output.h"
#include "runtime/engine/Compile.h"

namespace vetro::cli {

struct InspectOptions {
  ModelOptions model;
  uint32_t nCtx = 4096; ///< the context whose cache is counted
  bool all = false;     ///< long arrays and all tensors in full
  bool json = false;
};

/// {"file", "metadata", "tensors", "types", "frontend", "kv_cache", "plan", "notes"}: the last but
/// one are null, with a "why", where the model cannot be built. Reads no tensor.
Json inspectFile(const gguf::File &file, const InspectOptions &options);

} // namespace vetro::cli
