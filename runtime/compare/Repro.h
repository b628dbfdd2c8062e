// A fault, alone: the ops that compute one value, cut out of a model with all that they read, so
// that `vetro eval` runs them without the model.
#pragma once

#include "runtime/compare/Blame.h"

namespace vetro {

struct Repro {
  std::string name;                ///< of the value
  std::string program;             ///< text of a module for runtime/engine/Program.h
  std::vector<NamedTensor> values; ///< inputs; of a wrong graph also the reference's value
  struct Weight {
    std::string name, dtype;    ///< "F32", or "U8": bytes as in the file
    std::vector<int64_t> shape; ///< of bytes: [rows, bytes of a row]
    std::vector<uint8_t> bytes;
  };
  std::vector<Weight> weights;
  std::optional<double> leastSnrDb; ///< of a wrong graph: to the reference's value, were it right
  std::string command;              ///< that runs it again, in the folder
};

/// The ops of a graph (of the frontend, or with passes applied) between the values above `name`
/// that the reference has and `name`, on the reference's values. `wrong`: by how much they are off;
/// the command asks for what would be right. Error: the reference refuses.
llvm::Expected<Repro> reproOfGraph(const Graph &graph, const Proof &wrong,
                                   const TensorFile &reference, const llvm::StringMap<Proof> &known,
                                   llvm::ArrayRef<int32_t> ids, const gguf::File &file);

/// The step of a model's plan that computes `name`, on what it read when `session`, which is fresh,
/// ran `ids`. Error: decoding fails.
llvm::Expected<Repro> reproOfStep(const Model &model, llvm::StringRef name, Session &session,
                                  llvm::ArrayRef<int32_t> ids);

/// Writes region.mlir, tensors.safetensors and README.md into a folder, which is made. Error: it
/// cannot be written.
llvm::Error writeRepro(const Repro &repro, llvm::StringRef folder);

} // namespace vetro
