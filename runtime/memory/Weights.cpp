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

bool Weights::readRow(llvm::StringRef name, int64_t row, float *out) const {
  auto it = index.find(name);
  if (it == index.end())
    return false;
  const Item &item = items[it->second];
  const uint8_t *from = region.data() + item.offset;
  const PlanWeight &w = item.plan;
  if (!item.tiled()) {
    memcpy(out, reinterpret_cast<const float *>(from) + row * w.width, w.width * sizeof(float));
    return true;
  }
  std::vector<uint8_t> blocks(rowBytes(w.format, w.width));
  unpackRow(w.format, w.width, from, row, blocks.data());
  dequantizeRow(w.format, blocks.data(), w.width, out);
  return true;
}

} // namespace vetro
