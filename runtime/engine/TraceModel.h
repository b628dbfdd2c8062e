// What a trace says of a model before it runs: its file, the graph at each stage, every rewrite of
// every pass, the plan and the machine code.
#pragma once

#include "runtime/engine/Model.h"
#include "runtime/trace/TraceFile.h"

namespace vetro {

/// A number of all bytes of a model's files, "xxh3:..." (XXH3, 128 bits): equal files, equal hash.
std::string modelHash(const gguf::File &file);

/// The fields "model", "machine", "options", "passes", "graphs", "assembly", "steps", "memory" and
/// "kv" of a trace.json (docs/trace.md), into `document`; their files into `writer`. `contextOf`:
/// the session's. Error: it cannot be written.
llvm::Error traceModel(const Model &model, uint32_t context, uint64_t arenaBytes,
                       TraceWriter &writer, nlohmann::ordered_json &document);

} // namespace vetro
