// Text to id and id to text, for a few hundred thousand short texts: one buffer and one
// open-addressing table, because a vocabulary must load in milliseconds.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <vector>

namespace vetro {

/// An append-only list of texts, findable by text. Ids are given in order of insertion.
class TextTable {
public:
  /// Makes room for `nTexts` texts of `nBytes` bytes in all.
  void reserve(size_t nTexts, size_t nBytes);

  /// Appends `text` under the next id. Where an equal text is present already, the new one can be
  /// read by its id but is never found; its forerunner's id is returned, else the new id.
  int32_t append(llvm::StringRef text);

  /// Appends a text that can never be found by find().
  void appendHidden(llvm::StringRef text);

  /// The lowest id of `text`, or -1.
  int32_t find(llvm::StringRef text) const;

  llvm::StringRef text(int32_t id) const {
    return {bytes.data() + offsets[id], offsets[id + 1] - offsets[id]};
  }
  int32_t size() const { return static_cast<int32_t>(offsets.size()) - 1; }
  /// Bytes of the longest findable text.
  size_t longest() const { return maxLength; }

private:
  struct Slot {
    uint32_t hash;
    int32_t id; // -1: free
  };
  void grow(size_t nSlots);

  std::vector<char> bytes;
  std::vector<size_t> offsets{0};
  std::vector<Slot> slots;
  size_t nFindable = 0;
  size_t maxLength = 0;
};

} // namespace vetro
