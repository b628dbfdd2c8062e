// How a text became ids, as JSON: what `vetro tokenize --explain --json` prints and a trace holds.
#pragma once

#include "runtime/tokenizer/Tokenizer.h"

#include <nlohmann/json.hpp>

namespace vetro {

/// {"fragments": [{"begin", "end", "special"}], "words": [{"begin", "end", "text", "ids",
/// "merges": [{"left", "right", "result", "score" or "rank"}]}]}; begin and end count bytes.
nlohmann::ordered_json encodingJson(const Explain &explain, llvm::StringRef text);

/// The tokens as the vocabulary spells them.
nlohmann::ordered_json piecesJson(const Tokenizer &tokenizer, llvm::ArrayRef<int32_t> ids);

} // namespace vetro
