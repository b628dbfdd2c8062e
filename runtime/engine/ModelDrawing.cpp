// Builds the graph, runs the passes as far as the stage wants, draws.
#include "runtime/engine/ModelDrawing.h"
#include "runtime/engine/Compile.h"

#include "llvm/Support/Path.h"

namespace vetro {

static constexpr std::pair<llvm::StringLiteral, Stage> stages[] = {
    {"frontend", Stage::Frontend}, {"fused", Stage::Fused}, {"planned", Stage::Planned}};

llvm::Expected<Graph> modelGraph(const gguf::File &file, const ModelOptions &options,
                                 llvm::StringRef stage) {
  auto known = llvm::find_if(stages, [&](const auto &s) { return s.first == stage; });
  if (known == std::end(stages))
    return llvm::createStringError("stage: found " + gguf::escaped(stage) +
                                   ", expected frontend, fused or planned");
  return buildGraphAt(file, options, known->second);
}

llvm::Expected<std::string> drawModel(const gguf::File &file, const ModelOptions &options,
                                      llvm::StringRef stage, viz::DotOptions dot) {
  dot.title = (llvm::sys::path::filename(options.path) + ",  " + stage).str();
  auto graph = modelGraph(file, options, stage);
  if (!graph)
    return graph.takeError();
  return viz::toDot(graph->forward(), dot);
}

} // namespace vetro
