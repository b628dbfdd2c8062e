// Tabs of step 13: what the compiler made of a value, pass by pass, down to instructions; and the
// heads of an attention.
#include "runtime/screens/Draw.h"

#include "llvm/ADT/StringSet.h"

namespace vetro::screens {

/// The name that a line of MLIR text defines: "%blk.0.q_1:3 = ..." defines blk.0.q.
static llvm::StringRef definedName(llvm::StringRef line) {
  line = line.ltrim();
  if (!line.consume_front("%"))
    return "";
  return line.take_until([](char c) { return c == ' ' || c == ':' || c == ','; });
}

/// Whether an SSA name is a value's: MLIR adds _0, _1 to names that are taken.
static bool isNameOf(llvm::StringRef ssa, llvm::StringRef name) {
  if (!ssa.consume_front(name))
    return false;
  int number;
  return ssa.empty() || (ssa.consume_front("_") && !ssa.getAsInteger(10, number));
}

std::string irAfter(const Json &d, size_t pass) {
  for (size_t i = std::min(pass + 1, d["passes"].size()); i-- > 0;)
    if (d["passes"][i].contains("ir") && d["passes"][i]["ir"].is_string())
      return d["passes"][i]["ir"];
  return "ir/00-frontend.mlir";
}

std::string irBefore(const Json &d, size_t pass) {
  return pass == 0 ? "ir/00-frontend.mlir" : irAfter(d, pass - 1);
}

/// The lines of a text that define one of the step's values.
static llvm::Expected<Table> linesOf(Recording &r, const std::string &file, const Json &step,
                                     const std::string &title) {
  auto ir = r.trace().read(file);
  if (!ir)
    return ir.takeError();
  Table table{title, {}};
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(*ir).split(lines, '\n');
  for (llvm::StringRef line : lines) {
    llvm::StringRef ssa = definedName(line);
    bool ours = false;
    for (const char *field : {"values", "inside"})
      for (const Json &name : step[field])
        ours |= name != "" && isNameOf(ssa, name.get_ref<const std::string &>());
    if (ours && !ssa.empty())
      table.rows.push_back({text(line.trim())});
  }
  if (table.rows.empty())
    table.rows.push_back({text("none of its values is there at this stage", Tone::Dim)});
  return table;
}

llvm::Error addIr(Recording &r, const Place &place, Screen &s) {
  const Json &d = r.document();
  const Json &step = d["steps"][place.op];
  size_t pass = std::min(place.pass, d["passes"].size() - 1);
  std::string name = d["passes"][pass]["pass"];
  auto before = linesOf(r, irBefore(d, pass), step, "before " + name);
  auto after = before ? linesOf(r, irAfter(d, pass), step, "after " + name) : std::move(before);
  if (!after)
    return after.takeError();
  Facts facts("pass " + std::to_string(pass + 1) + " of " + std::to_string(d["passes"].size()) +
              "  ([ and ] turn)");
  facts.add("pass", fact(d, pointer("passes", pass, "pass"), Tone::Strong));
  for (size_t i = 0; i < d["passes"][pass]["rewrites"].size(); ++i) {
    const Json &rewrite = d["passes"][pass]["rewrites"][i];
    if (rewrite["site"] != step["name"] &&
        !listHas(step["values"], rewrite["site"].get_ref<const std::string &>()))
      continue;
    std::string at = pointer("passes", pass, "rewrites/") + std::to_string(i);
    facts.add(rewrite["fired"] ? "rewrote" : "refused",
              fact(d, at + "/what", rewrite["fired"] ? Tone::Good : Tone::Dim),
              fact(d, at + "/source", Tone::Dim));
  }
  s.tables = {facts.table, *before, *after};
  return llvm::Error::success();
}

/// A label, or an instruction and its operands.
static Row instruction(llvm::StringRef line) {
  auto [name, operands] = line.split('\t');
  if (line.ends_with(":"))
    return {text(line, Tone::Strong)};
  return {text(("  " + name).str(), Tone::Accent), text(operands)};
}

llvm::Error addAssembly(Recording &r, const Place &place, Screen &s) {
  const Json &d = r.document();
  std::string function = d["steps"][place.op]["function"];
  Table table{"machine code of " + shown(function), {}};
  if (!d.contains("assembly") || !d["assembly"].is_string()) {
    table.rows.push_back({text("the trace holds none", Tone::Dim)});
    s.tables.push_back(std::move(table));
    return llvm::Error::success();
  }
  auto code = r.trace().read(d["assembly"].get<std::string>());
  if (!code)
    return code.takeError();
  llvm::StringRef rest = *code;
  size_t begin = rest.find("\n" + function + ":");
  rest = begin == llvm::StringRef::npos ? "" : rest.drop_front(begin + 1);
  while (!rest.empty()) {
    auto [line, after] = rest.split('\n');
    rest = after;
    if (line.starts_with(".Lfunc_end"))
      break;
    if (!line.trim().starts_with(".")) // no directives
      table.rows.push_back(instruction(line.trim()));
  }
  s.tables.push_back(std::move(table));
  return llvm::Error::success();
}

/// One row per head, one cell per position.
static Table headTable(const Json &d, const HookValue &probs) {
  Table table{"attention of each head (a row) to each position: " + shown(probs.tensor.name),
              {heading("head")}};
  table.isMap = true;
  const auto &shape = probs.tensor.shape;
  if (shape.size() != 2)
    return table;
  for (int64_t c = 0; c < shape[1]; ++c)
    table.header.push_back(
        size_t(c) < d["tokens"].size() ? fact(d, pointer("tokens", size_t(c), "piece")) : Cell());
  for (int64_t h = 0; h < shape[0]; ++h) {
    Row row = {{std::to_string(h), Tone::Dim, true}};
    for (int64_t c = 0; c < shape[1]; ++c) {
      float p = probs.tensor.data[size_t(h * shape[1] + c)];
      Cell cell = number(probs.tensor.name, std::to_string(h * shape[1] + c), p);
      cell.shade = std::clamp<double>(p, 0, 1);
      row.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Where each head looks: its three largest shares.
static Table lookTable(const Json &d, const HookValue &probs) {
  Table table{"where each head looks most",
              {heading("head", true), heading("first"), heading("p", true), heading("second"),
               heading("p", true), heading("third"), heading("p", true)}};
  const auto &shape = probs.tensor.shape;
  for (int64_t h = 0; shape.size() == 2 && h < shape[0]; ++h) {
    llvm::ArrayRef<float> p(probs.tensor.data.data() + h * shape[1], size_t(shape[1]));
    std::vector<size_t> order(p.size());
    std::iota(order.begin(), order.end(), 0);
    size_t n = std::min<size_t>(3, order.size());
    std::partial_sort(order.begin(), order.begin() + n, order.end(),
                      [&](size_t a, size_t b) { return p[a] > p[b] || (p[a] == p[b] && a < b); });
    Row row = {{std::to_string(h), Tone::Dim, true}};
    for (size_t i = 0; i < n; ++i) {
      row.push_back(order[i] < d["tokens"].size()
                        ? fact(d, pointer("tokens", order[i], "piece"), Tone::Strong)
                        : Cell());
      row.push_back(
          number(probs.tensor.name, std::to_string(size_t(h * shape[1]) + order[i]), p[order[i]]));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string headsOf(const Json &d, size_t op) {
  for (const char *field : {"inside", "values"})
    for (const Json &value : d["steps"][op][field])
      if (llvm::StringRef(value.get_ref<const std::string &>()).ends_with("attn_probs"))
        return value;
  return "";
}

llvm::Error addHeads(Recording &r, const Place &place, Screen &s) {
  const Json &d = r.document();
  std::string name = headsOf(d, place.op);
  if (name.empty() || !r.has(place.token, name)) {
    Cell why = text(name.empty() ? "only an attention has heads that look at positions"
                                 : "not kept in the trace: open it with --model",
                    Tone::Dim);
    s.tables.push_back({"heads", {}, {{why}}});
    return llvm::Error::success();
  }
  auto values = r.values(place.token, {name});
  if (!values)
    return values.takeError();
  s.tables = {lookTable(d, values->front()), headTable(d, values->front())};
  return llvm::Error::success();
}

} // namespace vetro::screens
