// The merge loop.
#include "runtime/tokenizer/Merger.h"
#include <algorithm>
#include <functional>

namespace vetro {

void Merger::clear(size_t nSymbols) {
  nodes.clear();
  nodes.reserve(nSymbols);
  wordSize = 0;
}

void Merger::push(uint32_t size, int32_t id) {
  auto index = static_cast<int32_t>(nodes.size());
  if (index > 0)
    nodes.back().next = index;
  nodes.push_back({index - 1, -1, wordSize, id});
  wordSize += size;
}

Merger::Symbol Merger::symbolAt(int32_t index) const {
  const Node &node = nodes[index];
  uint32_t end = node.next >= 0 ? nodes[node.next].begin : wordSize;
  return {node.begin, end - node.begin, node.id};
}

/// Appends the pair that begins at `left`, if there is one, to the heap's storage.
void Merger::offer(int32_t left, PairFn pairOf) {
  if (left < 0 || nodes[left].next < 0)
    return;
  if (std::optional<Pair> pair = pairOf(symbolAt(left), symbolAt(nodes[left].next)))
    heap.push_back(static_cast<uint64_t>(pair->order) << 32 | static_cast<uint32_t>(left));
}

void Merger::run(PairFn pairOf, MergeFn onMerge) {
  heap.clear();
  heap.reserve(nodes.size());
  for (size_t i = 0; i + 1 < nodes.size(); ++i)
    offer(static_cast<int32_t>(i), pairOf);
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  while (!heap.empty()) {
    uint64_t best = heap.front();
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    heap.pop_back();
    auto left = static_cast<int32_t>(best & 0x7FFFFFFF);
    int32_t right = nodes[left].next;
    if (right < 0)
      continue;
    Symbol l = symbolAt(left), r = symbolAt(right);
    std::optional<Pair> pair = pairOf(l, r);
    if (!pair || pair->order != best >> 32)
      continue;
    if (onMerge)
      onMerge(l, r, *pair);
    int32_t next = nodes[right].next;
    nodes[left].id = pair->id;
    nodes[left].next = next;
    nodes[right].next = -2;
    if (next >= 0)
      nodes[next].prev = left;
    for (int32_t place : {nodes[left].prev, left}) {
      size_t before = heap.size();
      offer(place, pairOf);
      if (heap.size() > before)
        std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }
  }
}

void Merger::forEach(llvm::function_ref<void(const Symbol &)> fn) const {
  if (nodes.empty())
    return;
  for (int32_t i = 0; i >= 0; i = nodes[i].next)
    fn(symbolAt(i));
}

} // namespace vetro
