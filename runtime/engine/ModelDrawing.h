// The graph of a model file as a drawing: what `vetro graph` writes and Python's Model.graph()
// shows.
#pragma once

#include "runtime/engine/Options.h"
#include "viz/Dot.h"

namespace vetro {

/// The drawing at a stage: "frontend", as the papers have it; "fused", before kernels are selected;
/// "planned", as it runs. `dot.title` is set here. Errors: another stage; what the frontend, the
/// passes or the drawing refuse.
llvm::Expected<std::string> drawModel(const gguf::File &file, const ModelOptions &options,
                                      llvm::StringRef stage, viz::DotOptions dot);

} // namespace vetro
