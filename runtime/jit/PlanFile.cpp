// A plan as JSON, and back. Each struct has one toJSON and one fromJSON; the names are the fields'.
#include "runtime/jit/PlanFile.h"

namespace vetro {

using llvm::json::Array;
using llvm::json::ObjectMapper;
using llvm::json::Path;
using llvm::json::Value;

template <typename T> static Value list(const std::vector<T> &items) {
  Array array;
  for (const T &item : items)
    array.push_back(toJSON(item));
  return array;
}

static Value toJSON(const PlanExtent &e) {
  return Array{int64_t(e.scale), e.tokens, e.outputs, e.cells};
}
bool fromJSON(const Value &v, PlanExtent &e, Path p) {
  std::vector<int64_t> n;
  if (!llvm::json::fromJSON(v, n, p) || n.size() != 4)
    return p.report("expected 4 numbers"), false;
  e = {uint64_t(n[0]), uint8_t(n[1]), uint8_t(n[2]), uint8_t(n[3])};
  return true;
}

static Value toJSON(const PlanOperand &o) { return Array{int64_t(o.table), int64_t(o.index)}; }
bool fromJSON(const Value &v, PlanOperand &o, Path p) {
  std::vector<int64_t> n;
  if (!llvm::json::fromJSON(v, n, p) || n.size() != 2 || n[0] < 0 || n[0] > 3)
    return p.report("expected a table and an index"), false;
  o = {PlanTable(n[0]), uint32_t(n[1])};
  return true;
}

static Value toJSON(const PlanWeight &w) {
  return Array{w.name, formatInfo(w.format).name, w.layout, int64_t(w.rows), int64_t(w.width)};
}
bool fromJSON(const Value &v, PlanWeight &w, Path p) {
  const Array *a = v.getAsArray();
  if (!a || a->size() != 5)
    return p.report("expected a weight"), false;
  std::string format;
  int64_t rows, width;
  if (!fromJSON((*a)[0], w.name, p) || !fromJSON((*a)[1], format, p) ||
      !fromJSON((*a)[2], w.layout, p) || !fromJSON((*a)[3], rows, p) ||
      !fromJSON((*a)[4], width, p))
    return false;
  w.rows = rows, w.width = width;
  for (const FormatInfo &info : formatTable)
    if (format == info.name)
      return w.format = info.format, true;
  return p.report("unknown format"), false;
}

static Value toJSON(const PlanState &s) {
  return Array{s.name, s.kind, s.element, int64_t(s.heads), int64_t(s.headDim)};
}
bool fromJSON(const Value &v, PlanState &s, Path p) {
  const Array *a = v.getAsArray();
  if (!a || a->size() != 5)
    return p.report("expected a state"), false;
  int64_t heads, headDim;
  if (!fromJSON((*a)[0], s.name, p) || !fromJSON((*a)[1], s.kind, p) ||
      !fromJSON((*a)[2], s.element, p) || !fromJSON((*a)[3], heads, p) ||
      !fromJSON((*a)[4], headDim, p))
    return false;
  s.heads = heads, s.headDim = headDim;
  return true;
}

static Value toJSON(const PlanStep &s) {
  return llvm::json::Object{{"name", s.name},           {"op", s.op},
                            {"function", s.function},   {"operands", list(s.operands)},
                            {"units", toJSON(s.units)}, {"scratch", toJSON(s.scratch)},
                            {"barrier", s.barrier}};
}
bool fromJSON(const Value &v, PlanStep &s, Path p) {
  ObjectMapper m(v, p);
  return m && m.map("name", s.name) && m.map("op", s.op) && m.map("function", s.function) &&
         m.map("operands", s.operands) && m.map("units", s.units) && m.map("scratch", s.scratch) &&
         m.map("barrier", s.barrier);
}

static Value toJSON(const PlanValue &x) {
  return llvm::json::Object{
      {"name", x.name},         {"step", int64_t(x.step)},   {"operand", int64_t(x.operand)},
      {"rows", toJSON(x.rows)}, {"width", int64_t(x.width)}, {"format", x.format}};
}
bool fromJSON(const Value &v, PlanValue &x, Path p) {
  ObjectMapper m(v, p);
  int64_t step, operand, width;
  if (!m || !m.map("name", x.name) || !m.map("step", step) || !m.map("operand", operand) ||
      !m.map("rows", x.rows) || !m.map("width", width) || !m.map("format", x.format))
    return false;
  x.step = step, x.operand = operand, x.width = width;
  return true;
}

Value planToJson(const Plan &plan) {
  return llvm::json::Object{
      {"weights", list(plan.weights)},  {"states", list(plan.states)},
      {"buffers", list(plan.buffers)},  {"steps", list(plan.steps)},
      {"values", list(plan.values)},    {"logitsBuffer", int64_t(plan.logitsBuffer)},
      {"nVocab", int64_t(plan.nVocab)}, {"warnings", Array(plan.warnings)}};
}

llvm::Expected<Plan> planFromJson(const Value &json) {
  Plan plan;
  Path::Root root("plan");
  ObjectMapper m(json, root);
  int64_t logits, nVocab;
  if (!m || !m.map("weights", plan.weights) || !m.map("states", plan.states) ||
      !m.map("buffers", plan.buffers) || !m.map("steps", plan.steps) ||
      !m.map("values", plan.values) || !m.map("logitsBuffer", logits) || !m.map("nVocab", nVocab) ||
      !m.map("warnings", plan.warnings))
    return root.getError();
  plan.logitsBuffer = logits, plan.nVocab = nVocab;
  return plan;
}

} // namespace vetro
