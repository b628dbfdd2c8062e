// Packing of weights, and reading a row back.
#include "runtime/memory/Weights.h"
#include "runtime/abi/Dequantize.h"
#include "runtime/abi/Kernel.h"
#include "runtime/abi/Layout.h"

namespace vetro {

/// Bytes of a weight in memory: its tiles, or plain f32.
static uint64_t bytesOf(const PlanWeight &w) {
  if (w.layout == "rows16")
    return packedBytes(w.format, w.rows, w.width);
  return w.rows * w.width * sizeof(float);
}

llvm::Expected<Weights> Weights::create(llvm::ArrayRef<PlanWeight> plan) {
  Weights weights;
  uint64_t offset = 0;
  for (const PlanWeight &w : plan) {
    weights.index[w.name] = weights.items.size();
    weights.items.push_back({w, offset});
    offset += alignLine(bytesOf(w));
  }
  auto region = Region::reserve(offset, "the weights");
  if (!region)
    return region.takeError();
  weights.region = std::move(*region);
  return weights;
}

uint64_t Weights::units(size_t i) const {
  return items[i].tiled() ? (items[i].plan.rows + tileRows - 1) / tileRows : 1;
}

void Weights::pack(size_t i, const uint8_t *file, uint64_t begin, uint64_t end) {
  const PlanWeight &w = items[i].plan;
  uint8_t *to = region.data() + items[i].offset;
  uint64_t stride = rowBytes(w.format, w.width);
  if (!items[i].tiled()) {
    for (uint64_t r = 0; r < w.rows; ++r)
      dequantizeRow(w.format, file + r * stride, w.width,
                    reinterpret_cast<float *>(to) + r * w.width);
    return;
  }
  for (uint64_t tile = begin; tile < end; ++tile) {
    const uint8_t *rows[tileRows];
    for (uint32_t r = 0; r < tileRows; ++r) {
      uint64_t row = tile * tileRows + r;
      rows[r] = row < w.rows ? file + row * stride : nullptr;
    }
    packTile(w.format, w.width, rows, to + tile * tileBytes(w.format, w.width));
  }
}

const Weights::Item *Weights::find(llvm::StringRef name) const {
  auto it = index.find(name);
  return it == index.end() ? nullptr : &items[it->second];
}

/// The row of a tiled weight as the file stores it.
std::vector<uint8_t> Weights::blocksOf(const Item &item, int64_t row) const {
  const PlanWeight &w = item.plan;
  std::vector<uint8_t> blocks(rowBytes(w.format, w.width));
  unpackRow(w.format, w.width, region.data() + item.offset, row, blocks.data());
  return blocks;
}

bool Weights::readRow(llvm::StringRef name, int64_t row, float *out) const {
  const Item *item = find(name);
  if (!item)
    return false;
  const PlanWeight &w = item->plan;
  if (item->tiled())
    dequantizeRow(w.format, blocksOf(*item, row).data(), w.width, out);
  else
    memcpy(out, reinterpret_cast<const float *>(region.data() + item->offset) + row * w.width,
           w.width * sizeof(float));
  return true;
}

bool Weights::readMinima(llvm::StringRef name, int64_t row, float *out) const {
  const Item *item = find(name);
  if (!item)
    return false;
  const PlanWeight &w = item->plan;
  std::fill_n(out, w.width, 0.0f);
  if (!item->tiled())
    return true;
  std::vector<uint8_t> blocks = blocksOf(*item, row);
  for (size_t i = 0; i < blocks.size(); i += formatInfo(w.format).blockBytes)
    keepMinima(w.format, &blocks[i]);
  dequantizeRow(w.format, blocks.data(), w.width, out);
  return true;
}

} // namespace vetro
