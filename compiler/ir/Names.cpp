// Names as locations.
#include "compiler/ir/Names.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace vetro::ir {

Location nameLoc(MLIRContext *context, StringRef name, std::optional<Location> source) {
  if (name.empty())
    return UnknownLoc::get(context);
  if (source)
    return NameLoc::get(StringAttr::get(context, name), *source);
  return NameLoc::get(StringAttr::get(context, name));
}

Location sourceLoc(MLIRContext *context, const std::source_location &where) {
  StringRef file = where.file_name();
  size_t begin = StringRef::npos; // of the last folder that is one of the repository's
  for (StringRef folder : {"frontends/", "passes/"})
    if (size_t at = file.rfind(folder); at != StringRef::npos)
      begin = begin == StringRef::npos ? at : std::max(begin, at);
  return FileLineColLoc::get(context, begin == StringRef::npos ? file : file.substr(begin),
                             where.line(), 0);
}

std::vector<std::string> replacedNames(Location loc) {
  std::vector<std::string> names;
  auto name = dyn_cast<NameLoc>(loc);
  auto fused = dyn_cast<FusedLoc>(name ? name.getChildLoc() : loc);
  if (auto each = fused ? dyn_cast_or_null<ArrayAttr>(fused.getMetadata()) : ArrayAttr())
    for (Attribute result : each)
      names.push_back(cast<StringAttr>(result).getValue().str());
  else if (fused)
    for (Location inner : fused.getLocations())
      names.push_back(nameOf(inner).str());
  llvm::erase_if(names, [](const std::string &text) { return text.empty(); });
  return names;
}

std::string sourceOf(Location loc) {
  auto name = dyn_cast<NameLoc>(loc);
  auto file = name ? dyn_cast<FileLineColLoc>(name.getChildLoc()) : FileLineColLoc();
  return file ? (file.getFilename().getValue() + ":" + Twine(file.getLine())).str() : "";
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

// MLIR would print a NameLoc, wherever it stands in a location, for all results of the op: names in
// a list leave the printing to the op.
Location resultNamesLoc(ArrayRef<Operation *> replaced) {
  MLIRContext *context = replaced.front()->getContext();
  SmallVector<Attribute> names;
  for (Operation *op : replaced)
    names.push_back(StringAttr::get(context, nameOf(op)));
  return FusedLoc::get({}, ArrayAttr::get(context, names), context);
}

StringRef nameOf(Operation *op) { return nameOf(op->getLoc()); }

StringRef nameOf(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().getValue();
  auto fused = dyn_cast<FusedLoc>(loc);
  auto names = fused ? dyn_cast_or_null<ArrayAttr>(fused.getMetadata()) : ArrayAttr();
  auto first = names && !names.empty() ? dyn_cast<StringAttr>(names[0]) : StringAttr();
  return first ? first.getValue() : "";
}

int layerOf(StringRef name) {
  int layer = 0;
  if (!name.consume_front("blk.") || name.consumeInteger(10, layer) || !name.starts_with("."))
    return -1;
  return layer;
}

} // namespace vetro::ir
