// Names as locations.
#include "compiler/ir/Names.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace vetro::ir {

Location nameLoc(MLIRContext *context, StringRef name) {
  if (name.empty())
    return UnknownLoc::get(context);
  return NameLoc::get(StringAttr::get(context, name));
}

Location fusedNameLoc(StringRef name, ArrayRef<Operation *> replaced) {
  MLIRContext *context = replaced.front()->getContext();
  SmallVector<Location> inner;
  for (Operation *op : replaced)
    if (!isa<UnknownLoc>(op->getLoc()))
      inner.push_back(op->getLoc());
  Location fused = FusedLoc::get(context, inner);
  return NameLoc::get(StringAttr::get(context, name), fused);
}

StringRef nameOf(Operation *op) {
  if (auto loc = dyn_cast<NameLoc>(op->getLoc()))
    return loc.getName().getValue();
  return "";
}

int layerOf(StringRef name) {
  int layer = 0;
  if (!name.consume_front("blk.") || name.consumeInteger(10, layer) || !name.starts_with("."))
    return -1;
  return layer;
}

} // namespace vetro::ir
