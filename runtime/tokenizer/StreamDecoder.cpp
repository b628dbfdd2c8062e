// Holds back the first bytes of a character until the rest has come.
#include "runtime/tokenizer/StreamDecoder.h"

namespace vetro {

std::string StreamDecoder::push(int32_t id) {
  bool known = id >= 0 && id < tokenizer.nTokens();
  if (known && (special || !tokenizer.isSpecial(id)))
    held += tokenizer.piece(id);
  std::string ready = held.substr(0, held.size() - incompleteTail(held));
  held.erase(0, ready.size());
  return ready;
}

std::string StreamDecoder::flush() { return std::exchange(held, {}); }

} // namespace vetro
