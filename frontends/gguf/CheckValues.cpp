// Values that would poison every result: scales and weights that are infinite or NaN. In F16, F32,
// BF16 and F64 these are exactly the values whose exponent bits are all ones, so the scan is one
// masked comparison a value; only when a stretch holds one is its place looked for.
#include "frontends/gguf/Gguf.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <cmath>

namespace vetro::gguf {

using llvm::Error;
using llvm::Twine;

/// Byte offsets of the F16 scale and minimum in a block; -1 where there is none.
namespace {
struct ScaleFields {
  int scale, minimum;
};
} // namespace

static ScaleFields scaleFields(Format format) {
  switch (format) {
  case Format::Q4_0:
  case Format::Q5_0:
  case Format::Q8_0:
  case Format::IQ4_NL:
    return {0, -1};
  case Format::Q4_1:
  case Format::Q5_1:
  case Format::Q4_K:
  case Format::Q5_K:
    return {0, 2};
  case Format::Q2_K:
    return {80, 82};
  case Format::Q3_K:
    return {108, -1};
  case Format::Q6_K:
    return {208, -1};
  default:
    return {-1, -1};
  }
}

static constexpr uint64_t stretch = 1024; // values looked at before asking whether one was bad

/// Whether one of `n` values, `stride` bytes apart, has all bits of `mask` set.
template <typename T> static bool anyWith(T mask, const uint8_t *at, uint64_t n, uint64_t stride) {
  unsigned any = 0; // no early end: the loop stays free of branches
  for (uint64_t i = 0; i < n; ++i) {
    T bits;
    std::memcpy(&bits, at + i * stride, sizeof(T));
    any |= (bits & mask) == mask;
  }
  return any != 0;
}

/// Number of the first such value; `n` where there is none.
template <typename T>
static uint64_t firstWith(T mask, const uint8_t *at, uint64_t n, uint64_t stride) {
  for (uint64_t begin = 0; begin < n; begin += stretch) {
    uint64_t end = std::min(n, begin + stretch);
    if (!anyWith(mask, at + begin * stride, end - begin, stride))
      continue;
    for (uint64_t i = begin; i < end; ++i)
      if (anyWith(mask, at + i * stride, 1, stride))
        return i;
  }
  return n;
}

static constexpr uint16_t f16Exponent = 0x7c00, bf16Exponent = 0x7f80;
static constexpr uint32_t f32Exponent = 0x7f800000;
static constexpr uint64_t f64Exponent = uint64_t(0x7ff) << 52;

/// The error of the F16 at byte `field` of block `block` of the tensor.
static Error scaleError(const File &file, const TensorInfo &tensor, uint64_t block, int field) {
  const FormatInfo &info = formatInfo(tensor.format);
  uint64_t perRow = tensor.ne[0] / info.blockLen;
  uint16_t bits;
  std::memcpy(&bits, file.data(tensor).data() + block * info.blockBytes + field, sizeof(bits));
  bool isScale = field == scaleFields(tensor.format).scale;
  return makeError(ErrorKind::Values, file.path(),
                   "tensor " + escaped(tensor.name) + ", row " + Twine(block / perRow) +
                       ", block " + Twine(block % perRow) + ": its " + info.name +
                       (isScale ? " scale" : " minimum") + " is " +
                       (bits & 0x3ff ? "NaN" : "infinite") +
                       ", expected a finite number; the file is damaged, get it again");
}

Error checkScales(const File &file, const TensorInfo &tensor, uint64_t firstRow, uint64_t numRows) {
  if (!tensor.supported)
    return Error::success();
  const FormatInfo &info = formatInfo(tensor.format);
  ScaleFields fields = scaleFields(tensor.format);
  llvm::ArrayRef<uint8_t> data = file.data(tensor);
  if (fields.scale < 0 || data.empty())
    return Error::success();
  uint64_t perRow = tensor.ne[0] / info.blockLen;
  firstRow = std::min(firstRow, tensor.numRows());
  numRows = std::min(numRows, tensor.numRows() - firstRow);
  uint64_t blocks = numRows * perRow;
  const uint8_t *begin = data.data() + firstRow * perRow * info.blockBytes;
  for (uint64_t b = 0; b < blocks; b += stretch) { // both fields while the blocks are in the cache
    const uint8_t *at = begin + b * info.blockBytes;
    for (int field : {fields.scale, fields.minimum}) {
      uint64_t n = field < 0 ? 0 : std::min(stretch, blocks - b);
      uint64_t bad = firstWith(f16Exponent, at + std::max(field, 0), n, info.blockBytes);
      if (bad != n)
        return scaleError(file, tensor, firstRow * perRow + b + bad, field);
    }
  }
  return Error::success();
}

/// Number of the first weight that is not finite; `n` where all are, or the format has none.
static uint64_t firstNonFinite(Format format, const uint8_t *data, uint64_t n) {
  switch (format) {
  case Format::F32:
    return firstWith(f32Exponent, data, n, 4);
  case Format::F16:
    return firstWith(f16Exponent, data, n, 2);
  case Format::BF16:
    return firstWith(bf16Exponent, data, n, 2);
  case Format::F64:
    return firstWith(f64Exponent, data, n, 8);
  default:
    return n;
  }
}

Error checkRopeFactors(const File &file) {
  for (const char *name :
       {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"}) {
    const TensorInfo *tensor = file.findTensor(name);
    if (!tensor || !tensor->supported || tensor->format != Format::F32)
      continue;
    llvm::ArrayRef<uint8_t> data = file.data(*tensor);
    for (uint64_t i = 0; i < data.size() / sizeof(float); ++i) {
      float factor;
      std::memcpy(&factor, data.data() + i * sizeof(float), sizeof(float));
      if (factor > 0 && std::isfinite(factor))
        continue;
      return makeError(ErrorKind::Values, file.path(),
                       "tensor " + escaped(name) + ", element " + Twine(i) + ": it is " +
                           Twine(std::to_string(factor)) +
                           ", expected a finite number above 0; the file is damaged or badly "
                           "converted, get it again");
    }
  }
  return Error::success();
}

Error checkWeights(const File &file, const TensorInfo &tensor) {
  llvm::ArrayRef<uint8_t> data = file.data(tensor);
  if (!tensor.supported || data.empty())
    return Error::success();
  uint64_t n = tensor.numElements();
  uint64_t bad = firstNonFinite(tensor.format, data.data(), n);
  if (bad == n)
    return Error::success();
  return makeError(ErrorKind::Values, file.path(),
                   "tensor " + escaped(tensor.name) + ", row " + Twine(bad / tensor.ne[0]) +
                       ", element " + Twine(bad % tensor.ne[0]) + ": its " + tensor.typeName() +
                       " weight is infinite or NaN, expected a finite number; the file is "
                       "damaged or badly converted, get it again");
}

} // namespace vetro::gguf
