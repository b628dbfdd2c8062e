// The last accepted tokens: what the penalties look at, and part of a chain's state.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace vetro {

/// A ring of the last `capacity` tokens.
class History {
public:
  explicit History(size_t capacity) : ring(capacity), next(0), used(0) {}

  void accept(int32_t token) {
    if (ring.empty())
      return;
    ring[next] = token;
    next = (next + 1) % ring.size();
    used = used < ring.size() ? used + 1 : used;
  }
  void clear() { next = used = 0; }

  /// The tokens in it, in no particular order.
  llvm::ArrayRef<int32_t> tokens() const { return {ring.data(), used}; }

private:
  std::vector<int32_t> ring;
  size_t next, used;
};

} // namespace vetro
