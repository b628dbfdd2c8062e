// Values that a file tells by a model's modules, "model.layers.3.self_attn.q_proj.output", brought
// under our names by the architecture's table (frontends/Alignment.h).
#pragma once

#include "runtime/trace/TensorFile.h"

namespace vetro {

/// TensorFile::open(), and where the file names modules of a Hugging Face model (metadata
/// "model_class": LlamaForCausalLM), each value that the architecture's table has gets our name and
/// its layout's transforms ("transforms:NAME"). The others keep theirs. Error: what open() refuses;
/// a model of an unknown architecture.
llvm::Expected<std::unique_ptr<TensorFile>> openValues(llvm::StringRef path);

} // namespace vetro
