// Texts and colours of nodes.
#include "viz/Label.h"
#include "compiler/ir/Extents.h"
#include "compiler/ir/Shapes.h"
#include "runtime/abi/Format.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ConvertUTF.h"
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

const Kind &kindOf(Operation *op) {
  unsigned i =
      llvm::StringSwitch<unsigned>(op->getName().stripDialect())
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
  bool ours = isa_and_nonnull<ir::VetroDialect>(op->getDialect());
  return allKinds[ours ? i : std::size(allKinds) - 1];
}

bool isShapeOp(Operation *op) { return kindOf(op).name == "shape"; }

StringRef operandName(Operation *op, unsigned i) {
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

std::string shapeText(Value v) {
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

std::string insideText(Value v) {
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

SmallVector<std::string> attributeLines(Operation *op) {
  SmallVector<std::string> lines;
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

/// Names of the values that a fused op holds inside and that are not its results.
static std::string innerText(Operation *op) {
  auto fused = dyn_cast<ir::FusedOp>(op);
  if (!fused)
    return "";
  SmallVector<StringRef> names;
  for (Attribute attr : fused.getInnerNames()) {
    StringRef name = cast<StringAttr>(attr).getValue();
    bool isResult = llvm::any_of(op->getResults(), [&](Value v) { return valueName(v) == name; });
    if (!name.empty() && !isResult && name != ir::nameOf(op))
      names.push_back(name);
  }
  return llvm::join(names, ", ");
}

// ---- escaping ----

/// Whether a character may stand in XML: U+FFFE and U+FFFF are UTF-8 but may not.
static bool isInXml(StringRef character) {
  return character != "\xEF\xBF\xBE" && character != "\xEF\xBF\xBF";
}

/// The text with controls, broken UTF-8 and what XML refuses as \xNN; `special` maps the characters
/// of the target.
static std::string escaped(StringRef text, llvm::function_ref<StringRef(char)> special) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    unsigned char c = text[i];
    const auto *at = reinterpret_cast<const llvm::UTF8 *>(text.data()) + i;
    size_t length = llvm::getNumBytesForUTF8(c);
    bool good = c >= 0x20 && c != 0x7f && i + length <= text.size() &&
                llvm::isLegalUTF8Sequence(at, at + length) && isInXml(text.substr(i, length));
    if (!good) {
      out += special('\\');
      out += llvm::formatv("x{0:X-2}", unsigned(c)).str();
      ++i;
    } else if (StringRef mapped = special(char(c)); !mapped.empty()) {
      out += mapped;
      ++i;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  return out;
}

std::string quoted(StringRef text) {
  std::string out = escaped(text, [](char c) -> StringRef {
    return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c == '&' ? "&amp;" : "";
  });
  return "\"" + out + "\"";
}

std::string html(StringRef text) {
  return escaped(text, [](char c) -> StringRef {
    switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\\':
      return "\\";
    default:
      return "";
    }
  });
}

// ---- labels ----

static std::string row(StringRef text, unsigned size, StringRef color, StringRef extra = "") {
  return llvm::formatv("<TR><TD ALIGN=\"LEFT\"{0}><FONT POINT-SIZE=\"{1}\" COLOR=\"{2}\">{3}"
                       "</FONT></TD></TR>",
                       extra, size, color, text);
}

/// A row of small cells, each with a port: the operands at the top, the results at the bottom.
static std::string ports(ArrayRef<std::pair<std::string, std::string>> cells) {
  std::string text = "<TR><TD><TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" "
                     "CELLPADDING=\"2\"><TR>";
  for (const auto &[port, label] : cells)
    text +=
        llvm::formatv("<TD PORT=\"{0}\"><FONT POINT-SIZE=\"9\" COLOR=\"#777777\">{1}</FONT></TD>",
                      port, html(label))
            .str();
  return text + "</TR></TABLE></TD></TR>";
}

static std::string smallLabel(const Node &node) {
  std::string text = node.op->getName().stripDialect().str();
  if (node.op->getNumResults())
    text += " → " + shapeText(node.op->getResult(0));
  std::string name = node.name.empty() ? "" : node.name + "  ";
  return "<TABLE BORDER=\"1\" COLOR=\"#CFCFCF\" BGCOLOR=\"#F6F6F6\" STYLE=\"ROUNDED\" "
         "CELLBORDER=\"0\" CELLPADDING=\"2\"><TR><TD><FONT POINT-SIZE=\"9\" COLOR=\"#7A7A7A\">" +
         (name.empty() ? "" : "<B>" + html(name) + "</B>") + html(text) +
         "</FONT></TD></TR></TABLE>";
}

/// The lines of a node in small print: weights and states one a line, other inputs together, then
/// what the op was told, then the values inside.
static std::string smallPrint(const Node &node) {
  std::string text;
  SmallVector<std::string> inputs;
  for (Value v : node.inside)
    if (isa_and_nonnull<ir::GetWeightOp, ir::GetStateOp>(v.getDefiningOp()))
      text += row(html(insideText(v)), 9, "#666666");
    else
      inputs.push_back(insideText(v));
  if (!inputs.empty())
    text += row(html(llvm::join(inputs, ", ")), 9, "#666666");
  if (SmallVector<std::string> lines = attributeLines(node.op); !lines.empty())
    text += row(html(llvm::join(lines, "  ·  ")), 9, "#666666");
  if (std::string inner = innerText(node.op); !inner.empty())
    text += row("<I>inside: " + html(inner) + "</I>", 9, "#666666");
  return text;
}

std::string labelOf(const Node &node, ArrayRef<unsigned> reached) {
  if (isShapeOp(node.op))
    return smallLabel(node);
  const Kind &kind = kindOf(node.op);
  std::string text = llvm::formatv(
      "<TABLE BORDER=\"1\" COLOR=\"{0}\" BGCOLOR=\"{1}\" STYLE=\"ROUNDED\" CELLBORDER=\"0\" "
      "CELLPADDING=\"5\"><TR><TD><TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" "
      "CELLPADDING=\"1\">",
      kind.border, kind.fill);
  SmallVector<std::pair<std::string, std::string>> in, out;
  for (unsigned i : reached)
    if (StringRef name = operandName(node.op, i); !name.empty())
      in.push_back({"i" + std::to_string(i), name.str()});
  if (in.size() > 1)
    text += ports(in);
  std::string mnemonic = node.op->getName().stripDialect().str();
  std::string title = node.name.empty() ? mnemonic : node.name;
  text += row("<B>" + html(title) + "</B>", 12, kind.border);
  std::string what = node.name.empty() ? "" : mnemonic;
  if (node.op->getNumResults() == 1)
    what += (what.empty() ? "" : "  ") + typeText(node.op->getResult(0));
  if (!what.empty())
    text += row(html(what), 10, "#333333");
  text += smallPrint(node);
  if (node.op->getNumResults() > 1) {
    for (auto [i, v] : llvm::enumerate(node.op->getResults()))
      out.push_back({"r" + std::to_string(i), valueName(v) + " " + typeText(v)});
    text += ports(out);
  }
  return text + "</TABLE></TD></TR></TABLE>";
}

std::string tooltipOf(const Node &node) {
  std::string text = node.op->getName().getStringRef().str();
  for (Value v : node.op->getResults())
    text += "; " + valueName(v) + " " + typeText(v);
  for (Value v : node.op->getOperands())
    text += "; reads " + insideText(v);
  for (const std::string &line : attributeLines(node.op))
    text += "; " + line;
  return text;
}

} // namespace vetro::viz
