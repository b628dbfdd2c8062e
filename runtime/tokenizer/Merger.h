// The loop that both kinds of tokenizer share: join the best pair of neighbours until none is left.
// A heap of pairs over a linked list of symbols: O(n log n), no recursion.
//
// Example, byte pairs, merges "l o" (rank 0), "lo w" (1), "e r" (2), text "lower":
//   l o w e r  -> heap (0: l o) (2: e r);  take rank 0
//   lo w e r   -> adds (1: lo w);          take rank 1
//   low e r    -> take rank 2
//   low er
// An entry whose symbols have changed since is recognised by its length and dropped.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace vetro {

/// Merges the symbols of one word after another; keeps its buffers between words. Words must be
/// shorter than 2 GiB.
class Merger {
public:
  struct Symbol {
    int32_t prev, next;   // indices, -1 at the ends
    uint32_t begin, size; // bytes of the word; size 0: merged into its left neighbour
    int32_t id;           // token, or -1 where no token spells this symbol
  };
  /// What two neighbours become.
  struct Pair {
    uint32_t order; // lower is merged first; ties go to the leftmost
    int32_t id;
  };
  using PairFn = llvm::function_ref<std::optional<Pair>(const Symbol &, const Symbol &)>;
  using MergeFn = llvm::function_ref<void(const Symbol &, const Symbol &, Pair)>;

  /// Forgets the last word.
  void clear();
  /// Appends a symbol of `size` bytes to the word.
  void push(uint32_t size, int32_t id);
  /// Merges. `pairOf` says what two neighbours become, if anything; `onMerge` (may be null) is
  /// told of each merge before it happens.
  void run(PairFn pairOf, MergeFn onMerge);
  /// Calls `fn` with what is left, from left to right.
  void forEach(llvm::function_ref<void(const Symbol &)> fn) const;

private:
  struct Candidate {
    uint32_t order;
    int32_t left, right;
    uint32_t size;
    int32_t id;
  };
  static bool later(const Candidate &a, const Candidate &b);
  void consider(int32_t left, int32_t right, PairFn pairOf);

  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

} // namespace vetro
