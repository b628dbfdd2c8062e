// All options of a run, in one place; only runtime/cli reads a command line.
#pragma once

#include "frontends/gguf/Gguf.h"
#include <string>
#include <vector>

namespace vetro {

struct Graph; // Compile.h

/// What decides the compiled model.
struct ModelOptions {
  std::string path;
  gguf::OpenOptions open;
  std::string kvType = "f16";       ///< f16 or f32
  std::vector<std::string> disable; ///< passes switched off: "fuse-qkv", "fuse-qkv@blk.3"
  /// Activation formats of the matmuls whose names match: "l_out=a8x2" (select-kernels).
  std::vector<std::string> activations;
  uint32_t nCtx = 4096; ///< that sessions will ask for, 0: the model's; decides longrope
  std::string level;    ///< instruction set level; empty: the best this CPU runs
  std::string cacheDir; ///< of compiled plans; empty: none
  /// Of the interpreter: round like a model of this type, "bf16" or "f16"; empty: not at all.
  std::string round;
  unsigned nThreads = 1;
  bool pin = true;        ///< bind threads to processors
  bool graphOnly = false; ///< no weights, no code: inspect, graph, passes
  std::function<void(llvm::StringRef stage, double fraction)> progress = {}; ///< may be empty
  /// Surgery: may change the graph that the frontend built (pass: ""), and what each pass made of
  /// it. Such plans are not cached. May be empty.
  std::function<void(llvm::StringRef pass, Graph &)> changeGraph = {};
};

/// What a session may hold.
struct SessionOptions {
  uint32_t nCtx = 4096;   ///< positions per sequence; capped by the model's context length
  uint32_t nUbatch = 512; ///< tokens per micro-batch
  uint32_t nSequences = 1;
  uint32_t nOutputs = 1; ///< rows of logits per micro-batch
  /// Called between the micro-batches of a batch with the fraction that has run; may be empty.
  std::function<void(double fraction)> progress = {};
};

} // namespace vetro
