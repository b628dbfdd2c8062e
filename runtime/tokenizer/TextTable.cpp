// The open-addressing table behind TextTable: power of two, linear probing, at most half full.
#include "runtime/tokenizer/TextTable.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>

using llvm::StringRef;

namespace vetro {

static uint32_t hashOf(StringRef text) { return static_cast<uint32_t>(llvm::xxh3_64bits(text)); }

void TextTable::reserve(size_t nTexts, size_t nBytes) {
  bytes.reserve(nBytes);
  offsets.reserve(nTexts + 1);
  size_t nSlots = llvm::PowerOf2Ceil(2 * nTexts + 16);
  if (nSlots > slots.size())
    grow(nSlots);
}

void TextTable::grow(size_t nSlots) {
  std::vector<Slot> old(nSlots, Slot{0, -1});
  old.swap(slots);
  for (Slot slot : old) {
    if (slot.id < 0)
      continue;
    size_t at = slot.hash & (nSlots - 1);
    while (slots[at].id >= 0)
      at = (at + 1) & (nSlots - 1);
    slots[at] = slot;
  }
}

void TextTable::appendHidden(StringRef text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
  offsets.push_back(bytes.size());
}

int32_t TextTable::append(StringRef text) {
  if (slots.size() < 2 * (nFindable + 1))
    grow(std::max<size_t>(16, 2 * slots.size()));
  uint32_t hash = hashOf(text);
  size_t mask = slots.size() - 1;
  int32_t id = size();
  size_t at = hash & mask;
  for (; slots[at].id >= 0; at = (at + 1) & mask)
    if (slots[at].hash == hash && this->text(slots[at].id) == text) {
      appendHidden(text);
      return slots[at].id;
    }
  slots[at] = {hash, id};
  appendHidden(text);
  ++nFindable;
  maxLength = std::max(maxLength, text.size());
  return id;
}

int32_t TextTable::find(StringRef text) const {
  if (slots.empty() || text.size() > maxLength)
    return -1;
  uint32_t hash = hashOf(text);
  size_t mask = slots.size() - 1;
  for (size_t at = hash & mask; slots[at].id >= 0; at = (at + 1) & mask)
    if (slots[at].hash == hash && this->text(slots[at].id) == text)
      return slots[at].id;
  return -1;
}

} // namespace vetro
