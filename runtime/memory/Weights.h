// The weights as the kernels read them: packed once at load into tiles of 16 rows.
#pragma once

#include "runtime/abi/Plan.h"
#include "runtime/memory/Region.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace vetro {

/// One region for all weights of a plan. After pack() immutable, shared by all threads.
class Weights {
public:
  static llvm::Expected<Weights> create(llvm::ArrayRef<PlanWeight> plan);

  size_t size() const { return items.size(); }
  uint64_t totalBytes() const { return region.size(); }
  void *address(size_t i) const { return region.data() + items[i].offset; }
  /// Units of pack(): tiles of 16 rows, or one for a weight that is kept as f32.
  uint64_t units(size_t i) const;
  /// Packs units [begin, end) of weight i from the file's bytes of the whole weight.
  void pack(size_t i, const uint8_t *file, uint64_t begin, uint64_t end);
  /// Row `row` of the weight of this name, dequantised: `width` floats. False: no such weight.
  bool readRow(llvm::StringRef name, int64_t row, float *out) const;
  /// The minima that the format adds to scale * code in that row; zeros where it has none.
  bool readMinima(llvm::StringRef name, int64_t row, float *out) const;

private:
  struct Item {
    PlanWeight plan;
    uint64_t offset;
    bool tiled() const { return plan.layout == "rows16"; }
  };
  const Item *find(llvm::StringRef name) const;
  std::vector<uint8_t> blocksOf(const Item &item, int64_t row) const;

  std::vector<Item> items;
  llvm::StringMap<size_t> index;
  Region region;
};

} // namespace vetro
