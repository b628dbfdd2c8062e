// Token by token to text, without ever letting half a character out.
#pragma once
#include "runtime/tokenizer/Tokenizer.h"

namespace vetro {

/// Turns a stream of ids into text. Not thread-safe; one per stream.
class StreamDecoder {
public:
  /// `special`: control and unknown tokens are printed too. `tokenizer` must outlive this object.
  explicit StreamDecoder(const Tokenizer &tokenizer, bool special = false)
      : tokenizer(tokenizer), special(special) {}

  /// What can be printed after `id`: whole characters. Bytes that can't become a character are let
  /// through as they are.
  std::string push(int32_t id);
  /// What was held back, at the end of the stream.
  std::string flush();

private:
  const Tokenizer &tokenizer;
  bool special;
  std::string held; // at most 3 bytes between calls
};

} // namespace vetro
