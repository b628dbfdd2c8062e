// Small questions about tensor types that verifiers, passes and lowering ask.
#pragma once

#include "compiler/ir/Vetro.h"
#include "runtime/abi/Format.h"
#include "runtime/abi/Kernel.h"

namespace vetro::ir {

inline mlir::RankedTensorType shapeOf(mlir::Value v) {
  return mlir::cast<mlir::RankedTensorType>(v.getType());
}

/// The same axes. A dynamic axis is the same as a dynamic one only: what a `?` counts is followed
/// from op to op (Extents.h).
inline bool sameShape(mlir::RankedTensorType a, mlir::RankedTensorType b) {
  return a.getShape() == b.getShape();
}

/// Elements per block of a storage format, 32 for int8 records; 0 for an unknown one.
int64_t blockLength(llvm::StringRef format);

/// Product of the static dimensions, at most 2^40 (hasUsableExtents).
inline int64_t staticProduct(mlir::RankedTensorType t) {
  int64_t product = 1;
  for (int64_t d : t.getShape())
    product *= mlir::ShapedType::isDynamic(d) ? 1 : d;
  return product;
}

/// "q4_1", "a8", ...; "f32" or "i32" where the type has no encoding.
inline llvm::StringRef storageFormat(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor)
    return "";
  if (auto q = mlir::dyn_cast_or_null<StorageAttr>(tensor.getEncoding()))
    return q.getFormat();
  return tensor.getElementType().isInteger(32) ? "i32" : "f32";
}
inline llvm::StringRef storageFormat(mlir::Value v) { return storageFormat(v.getType()); }

/// The format of a weight; F32 where the type has no encoding.
Format formatOf(mlir::Type type);

/// How many int8 records a row of this activation format is (runtime/abi/Kernel.h): 0 for floats
/// and for formats of weights.
inline uint32_t recordsOf(llvm::StringRef format) {
  for (const ActivationFormat &known : activationTable)
    if (format == known.name)
      return known.records;
  return 0;
}
inline uint32_t recordsOf(mlir::Value v) { return recordsOf(storageFormat(v)); }

/// The same tensor type under another encoding; no encoding for an empty format.
inline mlir::RankedTensorType withStorage(mlir::RankedTensorType t, llvm::StringRef format,
                                          llvm::StringRef layout = "") {
  mlir::Attribute encoding;
  if (!format.empty())
    encoding = StorageAttr::get(t.getContext(), format, layout);
  return mlir::RankedTensorType::get(t.getShape(), t.getElementType(), encoding);
}

// Checks that several ops share.
/// `what` has this shape.
mlir::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef what, mlir::Value v,
                                llvm::ArrayRef<int64_t> shape);
mlir::LogicalResult verifySameShape(mlir::Operation *op, mlir::Value x, mlir::Value y);
mlir::LogicalResult verifyMatmul(mlir::Operation *op, mlir::Value x, mlir::Value w, mlir::Value y);
/// Result like a; b repeated along missing axes and axes of length 1.
mlir::LogicalResult verifyBroadcast(mlir::Operation *op, mlir::RankedTensorType a,
                                    mlir::RankedTensorType b, mlir::RankedTensorType y);
mlir::LogicalResult verifyEps(mlir::Operation *op, const llvm::APFloat &eps);
/// Attributes of a rotation; factors, which may be null, hold nDims / 2 numbers.
mlir::LogicalResult verifyRope(mlir::Operation *op, int64_t nDims, int64_t headDim, double base,
                               mlir::Value factors);
mlir::LogicalResult verifyRopeMode(mlir::Operation *op, llvm::StringRef mode);
/// x is [T, H, d], H and d static, with one position a token.
mlir::LogicalResult verifyRotated(mlir::Operation *op, mlir::Value x, mlir::Value positions);
/// x [n, heads, headDim] as the state keeps it, n as long as the list of ids.
mlir::LogicalResult verifyHeads(mlir::Operation *op, StateType state, mlir::Value x,
                                mlir::Value ids);
mlir::LogicalResult verifyUnaryKind(mlir::Operation *op, llvm::StringRef kind);

} // namespace vetro::ir
