// Where the Hugging Face model has the values of an architecture, as JSON: `vetro names --json`
// prints it and Python's vetro.alignment() reads it.
#pragma once

#include "llvm/Support/Error.h"
#include <string>

namespace vetro {

struct Architecture;

/// The architecture of this name, or of Hugging Face's models of this model_type. Error: nobody
/// knows it (lists the known ones).
llvm::Expected<const Architecture *> requireArchitecture(llvm::StringRef name);

/// {"arch", "names": [{"name", "module" or "function", "port", "transforms": [..], "when"}]}; in
/// names and modules "*" is the layer; "when" only where not all layers have the value
/// (Alignment.h).
std::string alignmentJson(const Architecture &architecture);

} // namespace vetro
