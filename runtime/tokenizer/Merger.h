// The loop that both kinds of tokenizer share: join the best pair of neighbours until none is left.
// A heap of pairs over a linked list of symbols: O(n log n), no recursion.
//
// Example, byte pairs, merges "l o" (rank 0), "lo w" (1), "e r" (2), text "lower":
//   l o w e r  -> heap (0: l o) (2: e r);  take rank 0
//   lo w e r   -> adds (1: lo w);          take rank 1
//   low e r    -> take rank 2
//   low er
// The heap holds ranks and places only. What a place now holds is asked again when its turn comes:
// if that gives another rank, the entry is out of date and is dropped.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace vetro {

/// Merges the symbols of one word after another; keeps its buffers between words. Words must be
/// shorter than 2 GiB.
class Merger {
public:
  struct Symbol {
    uint32_t begin, size; // bytes of the word
    int32_t id;           // token, or -1 where it is not known or there is none
  };
  /// What two neighbours become.
  struct Pair {
    uint32_t order; // lower is merged first; ties go to the leftmost
    int32_t id;
  };
  using PairFn = llvm::function_ref<std::optional<Pair>(const Symbol &, const Symbol &)>;
  using MergeFn = llvm::function_ref<void(const Symbol &, const Symbol &, Pair)>;

  /// Forgets the last word and makes room for one of `nSymbols`.
  void clear(size_t nSymbols);
  /// Appends a symbol of `size` bytes to the word.
  void push(uint32_t size, int32_t id);
  /// Merges. `pairOf` says what two neighbours become, if anything; `onMerge` (may be null) is
  /// told of each merge before it happens.
  void run(PairFn pairOf, MergeFn onMerge);
  /// Calls `fn` with what is left, from left to right.
  void forEach(llvm::function_ref<void(const Symbol &)> fn) const;

private:
  struct Node {
    int32_t prev, next; // indices, -1 at the ends; next -2: merged into its left neighbour
    uint32_t begin;
    int32_t id;
  };
  Symbol symbolAt(int32_t index) const;
  void offer(int32_t left, PairFn pairOf);

  std::vector<Node> nodes;
  std::vector<uint64_t> heap; // order << 32 | left, the smallest on top
  uint32_t wordSize = 0;
};

} // namespace vetro
