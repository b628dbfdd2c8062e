// The vetro dialect: its types, attributes and ops. Include this to use any of them.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/ir/VetroDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/VetroAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/VetroTypes.h.inc"

#include "compiler/ir/Roundings.h"

namespace vetro::ir {
/// Whether a ranked tensor has at least one axis, none of length 0, and at most 2^40 numbers when
/// its dynamic axes are left out.
bool hasUsableExtents(mlir::Type type);
} // namespace vetro::ir

#include "compiler/ir/VetroInterfaces.h.inc"
#define GET_OP_CLASSES
#include "compiler/ir/VetroOps.h.inc"

#include "compiler/ir/Names.h"
