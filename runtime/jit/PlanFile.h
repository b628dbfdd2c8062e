// A plan as JSON, and back.
#pragma once

#include "runtime/abi/Plan.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace vetro {

llvm::json::Value planToJson(const Plan &plan);

/// Error: a field that is missing or of another type.
llvm::Expected<Plan> planFromJson(const llvm::json::Value &json);

} // namespace vetro
