// The page as one file that opens without a server.
#pragma once

#include "runtime/page/Views.h"

namespace vetro::page {

/// The page with the answers of everything that is asked about some tokens; what needs the model is
/// computed now. `progress` is called with 0 to 1. Errors: no such token.
llvm::Expected<std::string> exportPage(Viewer &viewer, llvm::ArrayRef<size_t> tokens,
                                       llvm::function_ref<void(double)> progress);

} // namespace vetro::page
