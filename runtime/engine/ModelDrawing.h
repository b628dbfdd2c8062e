// The graph of a model file as a drawing: what `vetro graph` writes and Python's Model.graph()
// shows.
#pragma once

#include "runtime/engine/Compile.h"
#include "viz/Dot.h"

namespace vetro {

/// The graph at a stage: "frontend", as the papers have it; "fused", before kernels are selected;
/// "planned", as it runs. Errors: another stage; what the frontend or the passes refuse.
llvm::Expected<Graph> modelGraph(const gguf::File &file, const ModelOptions &options,
                                 llvm::StringRef stage);

/// Its drawing. `dot.title` is set here. Errors: modelGraph()'s; what the drawing refuses.
llvm::Expected<std::string> drawModel(const gguf::File &file, const ModelOptions &options,
                                      llvm::StringRef stage, viz::DotOptions dot);

} // namespace vetro
