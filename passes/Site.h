// Where a pass may fire, and how it says what it did there.
#pragma once

#include "compiler/ir/Shapes.h"
#include "compiler/ir/Vetro.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <source_location>

namespace vetro {

/// A line of a pass.
using Where = std::source_location;

/// The sites of one pass. A site is the name of the value that a rewrite would define.
class Sites {
public:
  Sites(llvm::StringRef pass, llvm::ArrayRef<std::string> disabled, bool explain)
      : pass(pass), disabled(disabled), explain(explain) {}

  /// Whether the pass may fire at this op; says so if it is switched off.
  bool enabled(mlir::Operation *op, Where where = Where::current()) const {
    llvm::StringRef site = ir::nameOf(op);
    for (llvm::StringRef off : disabled)
      if (site == off || (site.starts_with(off) && site.substr(off.size()).starts_with(".")))
        return refused(op, "switched off here", where), false;
    return true;
  }
  void fired(mlir::Operation *op, const llvm::Twine &what, Where where = Where::current()) const {
    say(op, ": " + what, where);
  }
  void refused(mlir::Operation *op, const llvm::Twine &why, Where where = Where::current()) const {
    say(op, ": not here, " + why, where);
  }

private:
  /// A remark at the op, with a note at the line of the rewrite.
  void say(mlir::Operation *op, const llvm::Twine &what, const Where &where) const {
    if (!explain)
      return;
    mlir::InFlightDiagnostic remark = op->emitRemark() << pass << what;
    remark.attachNote(ir::sourceLoc(op->getContext(), where)) << "rewritten here";
  }

  llvm::StringRef pass;
  llvm::ArrayRef<std::string> disabled;
  bool explain;
};

/// All ops of one kind, collected before any is rewritten.
template <typename OpT> llvm::SmallVector<OpT> collect(mlir::Operation *root) {
  llvm::SmallVector<OpT> ops;
  root->walk([&](OpT op) { ops.push_back(op); });
  return ops;
}

/// The op of this kind that defines v, if nothing else reads v.
template <typename OpT> OpT onlyFor(mlir::Value v) {
  return v && v.hasOneUse() ? v.getDefiningOp<OpT>() : OpT();
}

/// The names of ops as the attribute that a fused op keeps.
mlir::ArrayAttr namesOf(llvm::ArrayRef<mlir::Operation *> ops);

/// Replaces the results of `old` and erases it and each of `inner` (given from last to first).
void replace(mlir::Operation *old, mlir::ValueRange values,
             llvm::ArrayRef<mlir::Operation *> inner);

} // namespace vetro
