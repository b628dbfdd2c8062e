// From a GGUF file to a module: weights as symbols, metadata as attributes; no graph yet.
#pragma once

#include "frontends/gguf/Gguf.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace vetro {

/// A module with one `vetro.weight` for each tensor and the metadata (all but the tokenizer's)
/// as the attribute `vetro.metadata`. Error: a tensor in a storage type that Vetro does not read.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importModule(mlir::MLIRContext *context,
                                                               const gguf::File &file);

/// A metadata value as the attribute that a module holds; null for arrays that are too long to be
/// hyperparameters.
mlir::Attribute metadataAttribute(mlir::MLIRContext *context, const gguf::Value &value);

} // namespace vetro
