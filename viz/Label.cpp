// Texts of nodes.
#include "viz/Label.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace vetro::viz {

// ---- escaping ----

/// Whether a character may stand in XML (U+FFFE and U+FFFF are UTF-8 but may not) and is drawn
/// where it stands: marks that turn the direction of writing, and what has no width, are not.
static bool isShown(StringRef character) {
  if (character.size() == 2)
    return character != "\xD8\x9C"; // U+061C
  if (character.size() != 3)
    return true;
  unsigned code = (character[0] & 0x0F) << 12 | (character[1] & 0x3F) << 6 | (character[2] & 0x3F);
  return !((code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || code >= 0xFFFE);
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
                llvm::isLegalUTF8Sequence(at, at + length) && isShown(text.substr(i, length));
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

std::string inUrl(StringRef text) {
  std::string out;
  for (unsigned char c : text)
    if (llvm::isAlnum(c) || StringRef("-._~:,@").contains(c))
      out += char(c);
    else
      out += llvm::formatv("%{0:X-2}", unsigned(c)).str();
  return out;
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
  std::string text = node.text.mnemonic().str();
  if (!node.text.results.empty())
    text += " → " + node.text.shape;
  std::string name = node.name.empty() ? "" : node.name + "  ";
  return "<TABLE BORDER=\"1\" COLOR=\"#CFCFCF\" BGCOLOR=\"#F6F6F6\" STYLE=\"ROUNDED\" "
         "CELLBORDER=\"0\" CELLPADDING=\"2\"><TR><TD><FONT POINT-SIZE=\"9\" COLOR=\"#7A7A7A\">" +
         (name.empty() ? "" : "<B>" + html(name) + "</B>") + html(text) +
         "</FONT></TD></TR></TABLE>";
}

/// Names of the values that a fused op holds and that are not its results.
static std::string innerText(const Node &node) {
  SmallVector<StringRef> names;
  for (const std::string &name : node.text.inner)
    if (name != node.name &&
        llvm::none_of(node.text.results, [&](const ResultText &r) { return r.name == name; }))
      names.push_back(name);
  return llvm::join(names, ", ");
}

/// The lines of a node in small print: weights and states one a line, other inputs together, then
/// what the op was told, then the values inside.
static std::string smallPrint(const Node &node) {
  std::string text;
  SmallVector<std::string> inputs;
  for (const OperandText &operand : node.text.operands)
    if (operand.inside && operand.handle)
      text += row(html(operand.text), 9, "#666666");
    else if (operand.inside)
      inputs.push_back(operand.text);
  if (!inputs.empty())
    text += row(html(llvm::join(inputs, ", ")), 9, "#666666");
  if (!node.text.lines.empty())
    text += row(html(llvm::join(node.text.lines, "  ·  ")), 9, "#666666");
  if (std::string inner = innerText(node); !inner.empty())
    text += row("<I>inside: " + html(inner) + "</I>", 9, "#666666");
  return text;
}

std::string labelOf(const Node &node, ArrayRef<unsigned> reached) {
  if (node.text.isShape())
    return smallLabel(node);
  const Kind &kind = node.text.kindOf();
  std::string text = llvm::formatv(
      "<TABLE BORDER=\"1\" COLOR=\"{0}\" BGCOLOR=\"{1}\" STYLE=\"ROUNDED\" CELLBORDER=\"0\" "
      "CELLPADDING=\"5\"><TR><TD><TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" "
      "CELLPADDING=\"1\">",
      kind.border, kind.fill);
  SmallVector<std::pair<std::string, std::string>> in, out;
  for (unsigned i : reached)
    if (const std::string &name = node.text.operands[i].port; !name.empty())
      in.push_back({"i" + std::to_string(i), name});
  if (in.size() > 1)
    text += ports(in);
  std::string mnemonic = node.text.mnemonic().str();
  std::string title = node.name.empty() ? mnemonic : node.name;
  text += row("<B>" + html(title) + "</B>", 12, kind.border);
  std::string what = node.name.empty() ? "" : mnemonic;
  if (node.text.results.size() == 1)
    what += (what.empty() ? "" : "  ") + node.text.results[0].type;
  if (!what.empty())
    text += row(html(what), 10, "#333333");
  text += smallPrint(node);
  if (node.text.results.size() > 1) {
    for (auto [i, result] : llvm::enumerate(node.text.results))
      out.push_back({"r" + std::to_string(i), result.name + " " + result.type});
    text += ports(out);
  }
  return text + "</TABLE></TD></TR></TABLE>";
}

std::string tooltipOf(const Node &node) {
  std::string text = node.text.op;
  for (const ResultText &result : node.text.results)
    text += "; " + result.name + " " + result.type;
  for (const OperandText &operand : node.text.operands)
    text += "; reads " + operand.text;
  for (const std::string &line : node.text.lines)
    text += "; " + line;
  return text;
}

} // namespace vetro::viz
