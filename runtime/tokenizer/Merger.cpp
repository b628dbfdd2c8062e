// The merge loop.
#include "runtime/tokenizer/Merger.h"
#include <algorithm>

namespace vetro {

void Merger::clear() { symbols.clear(); }

void Merger::push(uint32_t size, int32_t id) {
  auto index = static_cast<int32_t>(symbols.size());
  uint32_t begin = 0;
  if (index > 0) {
    symbols.back().next = index;
    begin = symbols.back().begin + symbols.back().size;
  }
  symbols.push_back({index - 1, -1, begin, size, id});
}

/// Heap order: the standard heap keeps the "largest" on top, so larger means merged earlier.
bool Merger::later(const Candidate &a, const Candidate &b) {
  return a.order != b.order ? a.order > b.order : a.left > b.left;
}

void Merger::consider(int32_t left, int32_t right, PairFn pairOf) {
  if (left < 0 || right < 0)
    return;
  const Symbol &l = symbols[left], &r = symbols[right];
  if (std::optional<Pair> pair = pairOf(l, r))
    heap.push_back({pair->order, left, right, l.size + r.size, pair->id});
}

void Merger::run(PairFn pairOf, MergeFn onMerge) {
  heap.clear();
  for (size_t i = 1; i < symbols.size(); ++i)
    consider(static_cast<int32_t>(i) - 1, static_cast<int32_t>(i), pairOf);
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    Candidate best = heap.front();
    std::pop_heap(heap.begin(), heap.end(), later);
    heap.pop_back();
    Symbol &left = symbols[best.left], &right = symbols[best.right];
    // Symbols only grow or vanish, so an unchanged sum means that both are as they were.
    if (left.size == 0 || right.size == 0 || left.size + right.size != best.size)
      continue;
    if (onMerge)
      onMerge(left, right, {best.order, best.id});
    left.size = best.size;
    left.id = best.id;
    left.next = right.next;
    right.size = 0;
    if (left.next >= 0)
      symbols[left.next].prev = best.left;
    for (auto [a, b] : {std::pair{left.prev, best.left}, std::pair{best.left, left.next}}) {
      size_t before = heap.size();
      consider(a, b, pairOf);
      if (heap.size() > before)
        std::push_heap(heap.begin(), heap.end(), later);
    }
  }
}

void Merger::forEach(llvm::function_ref<void(const Symbol &)> fn) const {
  if (symbols.empty())
    return;
  for (int32_t i = 0; i >= 0; i = symbols[i].next)
    fn(symbols[i]);
}

} // namespace vetro
