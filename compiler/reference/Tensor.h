// What the interpreter computes with: a shape and its numbers, row-major.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace vetro::ref {

using Shape = llvm::SmallVector<int64_t, 4>;

inline int64_t numElements(llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

/// f32 numbers, or i32 ids (then `ids` is filled; `data` is empty or holds them as numbers). A
/// value of storage `a8` is kept as the numbers that its record stands for.
struct Tensor {
  Shape shape;
  std::vector<float> data;
  std::vector<int32_t> ids;

  Tensor() = default;
  explicit Tensor(llvm::ArrayRef<int64_t> shape) : shape(shape), data(numElements(shape)) {}
  static Tensor ofIds(llvm::ArrayRef<int32_t> ids) {
    Tensor t;
    t.shape = {int64_t(ids.size())};
    t.ids.assign(ids.begin(), ids.end());
    return t;
  }

  int64_t dim(int axis) const { return shape[axis < 0 ? axis + int(shape.size()) : axis]; }
  int64_t size() const { return numElements(shape); }
  /// Number of rows when all axes but the last are one.
  int64_t rows() const { return size() / dim(-1); }
  float *row(int64_t r) { return data.data() + r * dim(-1); }
  const float *row(int64_t r) const { return data.data() + r * dim(-1); }
};

} // namespace vetro::ref
