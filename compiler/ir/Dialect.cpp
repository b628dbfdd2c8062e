// Registers the dialect's types, attributes and ops.
#include "compiler/ir/Shapes.h"
#include "compiler/ir/Vetro.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace vetro::ir;

#include "compiler/ir/VetroDialect.cpp.inc"
#include "compiler/ir/VetroInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/ir/VetroAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/VetroTypes.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/ir/VetroOps.cpp.inc"

void VetroDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/ir/VetroAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/ir/VetroTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/VetroOps.cpp.inc"
      >();
}

Attribute StorageAttr::parse(AsmParser &parser, Type) {
  StringRef format, layout;
  if (parser.parseLess() || parser.parseKeyword(&format))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseKeyword(&layout))
    return {};
  if (parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(parser.getNameLoc()); };
  return getChecked(emitError, parser.getContext(), format, layout);
}

void StorageAttr::print(AsmPrinter &printer) const {
  printer << "<" << getFormat();
  if (!getLayout().empty())
    printer << ", " << getLayout();
  printer << ">";
}
