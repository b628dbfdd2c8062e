// Helpers of rewrites.
#include "passes/Site.h"

using namespace mlir;

namespace vetro {

ArrayAttr namesOf(ArrayRef<Operation *> ops) {
  SmallVector<StringRef> names;
  for (Operation *op : ops)
    names.push_back(op ? ir::nameOf(op) : "");
  for (Operation *op : ops)
    if (op)
      return Builder(op->getContext()).getStrArrayAttr(names);
  llvm_unreachable("a fused op replaces something");
}

void replace(Operation *old, ValueRange values, ArrayRef<Operation *> inner) {
  old->replaceAllUsesWith(values);
  old->erase();
  for (Operation *op : inner)
    if (op && op->use_empty())
      op->erase();
}

} // namespace vetro
