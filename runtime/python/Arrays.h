// Between numpy's arrays and C++'s vectors, without a copy of results.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <vector>

namespace vetro::python {

/// Token ids as the Python layer prepares them: int32 [n], contiguous.
using Ids =
    nanobind::ndarray<const int32_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

/// A numpy array [shape] that owns the vector's memory.
template <typename T>
nanobind::ndarray<nanobind::numpy, T> toArray(std::vector<T> data, llvm::ArrayRef<int64_t> shape) {
  auto *kept = new std::vector<T>(std::move(data));
  nanobind::capsule owner(kept, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
  std::vector<size_t> extents(shape.begin(), shape.end());
  return nanobind::ndarray<nanobind::numpy, T>(kept->data(), extents.size(), extents.data(), owner);
}

inline llvm::ArrayRef<int32_t> refOf(const Ids &ids) { return {ids.data(), ids.size()}; }

} // namespace vetro::python
