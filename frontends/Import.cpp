// GGUF file to module.
#include "frontends/Import.h"
#include "compiler/ir/Vetro.h"

using namespace mlir;

namespace vetro {

/// Arrays longer than this hold no hyperparameters (the tokenizer's are skipped by name).
static constexpr uint64_t maxArray = 4096;

static Attribute number(Builder &b, gguf::ValueType type, const gguf::Value &v) {
  switch (type) {
  case gguf::ValueType::Bool:
    return b.getBoolAttr(*v.asBool());
  case gguf::ValueType::F32:
    return b.getF32FloatAttr(float(*v.asFloat()));
  case gguf::ValueType::F64:
    return b.getF64FloatAttr(*v.asFloat());
  case gguf::ValueType::U64:
    return b.getIntegerAttr(b.getIntegerType(64, false), int64_t(*v.asUInt()));
  default:
    return b.getI64IntegerAttr(*v.asInt());
  }
}

Attribute metadataAttribute(MLIRContext *context, const gguf::Value &v) {
  Builder b(context);
  if (auto text = v.asString())
    return b.getStringAttr(*text);
  if (!v.isArray())
    return number(b, v.type(), v);
  if (v.size() > maxArray)
    return {};
  SmallVector<Attribute> elements;
  if (auto strings = v.asStrings())
    for (StringRef s : *strings)
      elements.push_back(b.getStringAttr(s));
  else if (auto integers = v.asInts())
    for (int64_t i : *integers)
      elements.push_back(b.getI64IntegerAttr(i));
  else if (auto floats = v.asArray<float>())
    for (float f : *floats)
      elements.push_back(b.getF32FloatAttr(f));
  return b.getArrayAttr(elements);
}

llvm::Expected<OwningOpRef<ModuleOp>> importModule(MLIRContext *context, const gguf::File &file) {
  context->loadDialect<ir::VetroDialect>();
  OpBuilder b(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToEnd(module->getBody());

  SmallVector<NamedAttribute> metadata;
  for (const gguf::KeyValue &kv : file.keys()) {
    if (kv.key.starts_with("tokenizer."))
      continue;
    if (Attribute value = metadataAttribute(context, kv.value))
      metadata.push_back(b.getNamedAttr(kv.key, value));
  }
  module->getOperation()->setAttr("vetro.metadata", b.getDictionaryAttr(metadata));

  for (const gguf::TensorInfo &tensor : file.tensors()) {
    if (!tensor.supported)
      return llvm::createStringError(
          "%s: tensor %s is stored as %s; expected f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, "
          "q2_K to q6_K or iq4_nl; quantise the model to one of them",
          file.path().str().c_str(), gguf::escaped(tensor.name).c_str(),
          tensor.typeName().str().c_str());
    Attribute encoding;
    if (tensor.format != Format::F32)
      encoding = ir::StorageAttr::get(context, formatInfo(tensor.format).name, "");
    auto type = RankedTensorType::get(tensor.shape(), b.getF32Type(), encoding);
    ir::WeightOp::create(b, b.getUnknownLoc(), tensor.name, type);
  }
  return module;
}

} // namespace vetro
