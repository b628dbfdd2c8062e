// What types, encodings and symbols refuse: everything that later stages divide by, multiply
// without a check, or look up.
#include "compiler/ir/Shapes.h"
#include "runtime/abi/Format.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace vetro::ir;

bool vetro::ir::hasUsableExtents(Type type) {
  constexpr int64_t most = int64_t(1) << 40; // 4 TiB of f32: times a batch's lengths, no overflow
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0)
    return false;
  int64_t product = 1;
  for (int64_t d : tensor.getShape()) {
    if (ShapedType::isDynamic(d))
      continue;
    if (d <= 0 || d > most / product)
      return false;
    product *= d;
  }
  return true;
}

LogicalResult StateType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t heads,
                                int64_t headDim, Type element) {
  if (heads <= 0 || headDim <= 0)
    return emitError() << "a state needs heads of at least one number, found " << heads
                       << " heads of " << headDim;
  if (heads > INT32_MAX / headDim)
    return emitError() << "a state holds fewer than 2^31 numbers a position, found " << heads
                       << " heads of " << headDim;
  if (!element.isF16() && !element.isF32())
    return emitError() << "a state is kept as f16 or f32, found " << element;
  return success();
}

LogicalResult StorageAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                  StringRef format, StringRef layout) {
  if (blockLength(format) == 0)
    return emitError() << "unknown storage format '" << format << "'";
  if (!layout.empty() && layout != "rows16")
    return emitError() << "unknown layout '" << layout << "'; known: rows16";
  return success();
}

LogicalResult
StorageAttr::verifyEncoding(ArrayRef<int64_t> shape, Type element,
                            llvm::function_ref<InFlightDiagnostic()> emitError) const {
  if (!element.isF32())
    return emitError() << "a storage format encodes f32, found " << element;
  int64_t block = blockLength(getFormat());
  if (shape.empty() || ShapedType::isDynamic(shape.back()) || shape.back() % block != 0)
    return emitError() << "rows stored as " << getFormat() << " must be a multiple of " << block
                       << " long";
  return success();
}

vetro::Format vetro::ir::formatOf(Type type) {
  StringRef name = storageFormat(type);
  auto known =
      llvm::find_if(formatTable, [&](const FormatInfo &info) { return name == info.name; });
  return known == std::end(formatTable) ? Format::F32 : known->format;
}

int64_t vetro::ir::blockLength(StringRef format) {
  if (recordsOf(format))
    return 32;
  for (const vetro::FormatInfo &info : vetro::formatTable)
    if (format == info.name)
      return info.blockLen;
  return 0;
}

LogicalResult WeightOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !hasUsableExtents(type) || !type.hasStaticShape() || !type.getElementType().isF32())
    return emitOpError("type must be a tensor of f32 of static shape, found ") << getType();
  return success();
}

LogicalResult StateOp::verify() {
  if (getKind() != "k" && getKind() != "v")
    return emitOpError("kind must be k or v, found '") << getKind() << "'";
  if (!isa<StateType>(getType()))
    return emitOpError("type must be a state, found ") << getType();
  return success();
}

/// The symbol that `op` names is a SymbolT of the type of the op's result.
template <typename SymbolT>
static LogicalResult verifySymbol(Operation *op, FlatSymbolRefAttr name, SymbolTableCollection &t) {
  auto symbol = t.lookupNearestSymbolFrom<SymbolT>(op, name);
  if (!symbol)
    return op->emitOpError("no ") << SymbolT::getOperationName() << " is named " << name;
  if (symbol.getType() != op->getResult(0).getType())
    return op->emitOpError("result must have the type of ") << name << ", " << symbol.getType();
  return success();
}
LogicalResult GetWeightOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySymbol<WeightOp>(*this, getWeightAttr(), symbols);
}
LogicalResult GetStateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySymbol<StateOp>(*this, getStateAttr(), symbols);
}
