// The page as one HTML text: everything that it needs is inside.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace vetro::page {

/// The page that asks its server for its answers.
std::string servedPage();
/// The page that holds its answers, `recorded`: a JSON object from each request's key to its
/// answer. It opens without a server and asks nobody.
std::string exportedPage(llvm::StringRef recorded);
/// What a browser may load and run of the page: its own scripts and styles, by their hashes.
/// `connects`: whether it may ask its server.
std::string contentPolicy(bool connects);

} // namespace vetro::page
