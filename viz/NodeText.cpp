// From an op to the words that a drawing has for it.
#include "viz/NodeText.h"
#include "compiler/ir/Extents.h"
#include "compiler/ir/Shapes.h"
#include "runtime/abi/Format.h"
#include "viz/Picture.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;

namespace vetro::viz {

// ---- kinds ----

static constexpr Kind allKinds[] = {
    {"embed", "#FBEFD9", "#8A5A00"},      {"norm", "#E3EEFB", "#1F5FA8"},
    {"matmul", "#FDE6DA", "#B3470F"},     {"rope", "#EFE6FA", "#6B3FA0"},
    {"cache", "#FFF5C2", "#7A6500"},      {"attention", "#DFF3E4", "#1E7A3C"},
    {"activation", "#FBE3EE", "#A8256B"}, {"elementwise", "#DDF3F3", "#0F6F73"},
    {"quantize", "#ECECF4", "#50507A"},   {"shape", "#F6F6F6", "#7A7A7A"},
    {"experts", "#E9F2D3", "#4F6B12"},    {"other", "#FFFFFF", "#444444"},
};

ArrayRef<Kind> kinds() { return allKinds; }

unsigned kindNamed(StringRef mnemonic) {
  return llvm::StringSwitch<unsigned>(mnemonic)
      .Cases({"gather_rows", "rope_table"}, 0)
      .Cases({"rms_norm", "layer_norm", "rms_norm_mul", "rms_norm_mul_add", "head_norm"}, 1)
      .Cases({"matmul", "matmul_add", "qkv_matmul", "moe_matmul"}, 2)
      .Cases({"rope", "norm_rope"}, 3)
      .Cases({"kv_store", "kv_load", "norm_rope_store"}, 4)
      .Cases({"attention", "bmm", "softmax", "attn_mask"}, 5)
      .Cases({"unary", "glu"}, 6)
      .Cases({"add", "mul", "div", "scale", "clamp", "reduce"}, 7)
      .Case("quantize", 8)
      .Cases({"reshape", "transpose", "slice", "broadcast", "concat"}, 9)
      .Cases({"top_k", "take_along"}, 10)
      .Default(11);
}

static unsigned kindOf(Operation *op) {
  bool ours = isa_and_nonnull<ir::VetroDialect>(op->getDialect());
  return ours ? kindNamed(op->getName().stripDialect()) : unsigned(std::size(allKinds)) - 1;
}

/// Name of the i-th operand where an op reads several values: "residual"; else "".
static StringRef operandName(Operation *op, unsigned i) {
  if (isa<ir::SoftmaxOp>(op) && op->getNumOperands() > 1)
    return i == 0 ? "x" : "mask";
  if (isa<ir::AddOp, ir::MulOp, ir::DivOp, ir::BmmOp, ir::ConcatOp>(op))
    return i == 0 ? "a" : i == 1 ? "b" : "mask";
  if (isa<ir::MatmulAddOp, ir::RMSNormMulAddOp>(op))
    return i == 0 ? "x" : i == 1 ? "w" : "residual";
  if (isa<ir::TakeAlongOp, ir::MoeMatmulOp>(op))
    return i == 0 ? "x" : i + 1 == op->getNumOperands() ? "idx" : "w";
  return "";
}

// ---- values ----

/// "[T, 9, 64]", T tokens, C cache cells, R output rows; "" for a value without a shape.
static std::string shapeText(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  if (!type)
    return "";
  Operation *def = v.getDefiningOp();
  bool known = !def || (isa<ir::VetroDialect>(def->getDialect()) && def->getNumOperands() > 0);
  SmallVector<ir::Axis, 2> axes = known ? ir::dynamicAxes(v) : SmallVector<ir::Axis, 2>();
  std::string text;
  unsigned next = 0;
  for (int64_t d : type.getShape()) {
    text += text.empty() ? "[" : ", ";
    if (!ShapedType::isDynamic(d))
      text += std::to_string(d);
    else if (next >= axes.size())
      text += "?";
    else
      text += axes[next] == ir::Axis::Tokens ? "T" : axes[next] == ir::Axis::Cells ? "C" : "R";
    next += ShapedType::isDynamic(d);
  }
  return text.empty() ? "[]" : text + "]";
}

std::string typeText(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  if (!type)
    return "";
  std::string storage = ir::storageFormat(v).str();
  if (ir::recordsOf(storage))
    storage = "int8 record";
  else if (!type.getElementType().isF32())
    storage = llvm::formatv("{0}", type.getElementType());
  return shapeText(v) + " " + storage;
}

/// "207 KB"; "" for a format without a size.
static std::string bytesText(RankedTensorType type) {
  uint64_t count = uint64_t(ir::staticProduct(type)), bytes = 0;
  for (const FormatInfo &info : formatTable)
    if (ir::storageFormat(type) == info.name)
      bytes = rowBytes(info.format, count);
  if (bytes < 10'000)
    return std::to_string(bytes) + " B";
  if (bytes < 10'000'000)
    return llvm::formatv("{0} KB", bytes / 1000);
  return llvm::formatv("{0} MB", bytes / 1'000'000);
}

/// "blk.0.attn_q.weight 576x576 q4_1, 207 KB"; "positions"; "blk.0.k_cache 3x64 f16".
static std::string insideText(Value v) {
  Operation *def = v.getDefiningOp();
  std::string text;
  llvm::raw_string_ostream out(text);
  if (auto get = dyn_cast_or_null<ir::GetWeightOp>(def)) {
    auto type = cast<RankedTensorType>(v.getType());
    out << get.getWeight() << "  " << llvm::interleaved(type.getShape(), "×") << "  "
        << ir::storageFormat(type);
    if (auto q = dyn_cast_or_null<ir::StorageAttr>(type.getEncoding()); q && !q.getLayout().empty())
      out << " " << q.getLayout();
    out << "  " << bytesText(type);
  } else if (auto get = dyn_cast_or_null<ir::GetStateOp>(def)) {
    auto type = cast<ir::StateType>(v.getType());
    out << get.getState() << "  " << type.getHeads() << "×" << type.getHeadDim() << " "
        << type.getElement();
  } else {
    out << valueName(v);
  }
  return text;
}

// ---- attributes ----

/// Attributes that say nothing beside their default or beside the op's name.
static bool isPlain(StringRef key, Attribute value) {
  if (key == "names" || key == "operandSegmentSizes" || key == "vetro.buffers" ||
      key == "vetro.barrier")
    return true;
  auto f = dyn_cast<FloatAttr>(value);
  double x = f ? f.getValueAsDouble() : -1;
  auto i = dyn_cast<IntegerAttr>(value);
  return llvm::StringSwitch<bool>(key)
      .Cases({"eps", "softcap", "ext_factor"}, x == 0)
      .Cases({"freq_scale", "attn_factor"}, x == 1)
      .Case("beta_fast", x == 32)
      .Case("beta_slow", x == 1)
      .Cases({"window", "n_ctx_orig"}, i && i.getInt() == 0)
      .Cases({"groups", "groups_used"}, i && i.getInt() == 1)
      .Default(false);
}

/// "1e-05", "10000", "0.125".
static std::string shortest(double x) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", x);
  return text;
}

/// "eps 1e-5", "window 512", "kernel vt_matmul_q4_1_a8": the attributes that say what happens.
static std::vector<std::string> attributeLines(Operation *op) {
  std::vector<std::string> lines;
  for (NamedAttribute attr : op->getAttrDictionary()) {
    StringRef key = attr.getName();
    Attribute value = attr.getValue();
    if (isPlain(key, value))
      continue;
    key.consume_front("vetro.");
    if (auto text = dyn_cast<StringAttr>(value))
      lines.push_back(key == "kind" ? text.str() : (key + " " + text.getValue()).str());
    else if (auto number = dyn_cast<FloatAttr>(value))
      lines.push_back(key.str() + " " + shortest(number.getValueAsDouble()));
    else if (auto number = dyn_cast<IntegerAttr>(value))
      lines.push_back(llvm::formatv("{0} {1}", key, number.getInt()));
    else if (isa<UnitAttr>(value))
      lines.push_back(key.str());
    else if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
      lines.push_back(
          llvm::formatv("{0} {1}", key, llvm::interleaved(list.asArrayRef(), " ")).str());
    else if (auto list = dyn_cast<ArrayAttr>(value)) {
      llvm::SetVector<Attribute> different(list.begin(), list.end());
      for (Attribute item : different)
        if (auto text = dyn_cast<StringAttr>(item))
          lines.push_back((key.rtrim('s') + " " + text.getValue()).str());
    }
  }
  if (auto buffers = op->getAttrOfType<DenseI64ArrayAttr>("vetro.buffers");
      buffers && !buffers.empty())
    lines.push_back(
        llvm::formatv("arena buffer {0}", llvm::interleaved(buffers.asArrayRef(), " ")).str());
  if (op->hasAttr("vetro.barrier"))
    lines.push_back("then a barrier");
  return lines;
}

NodeText textOf(Operation *op, ArrayRef<Value> inside) {
  NodeText text{op->getName().getStringRef().str(), kindOf(op)};
  for (Value v : op->getResults())
    text.results.push_back({valueName(v), typeText(v)});
  if (op->getNumResults())
    text.shape = shapeText(op->getResult(0));
  for (OpOperand &operand : op->getOpOperands()) {
    Value v = operand.get();
    text.operands.push_back({insideText(v), operandName(op, operand.getOperandNumber()).str(),
                             llvm::is_contained(inside, v),
                             isa_and_nonnull<ir::GetWeightOp, ir::GetStateOp>(v.getDefiningOp())});
  }
  text.lines = attributeLines(op);
  if (auto fused = dyn_cast<ir::FusedOp>(op))
    for (Attribute attr : fused.getInnerNames())
      if (StringRef name = cast<StringAttr>(attr).getValue(); !name.empty())
        text.inner.push_back(name.str());
  return text;
}

} // namespace vetro::viz
