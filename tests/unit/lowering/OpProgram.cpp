// Compiles, runs and interprets a few ops.
#include "tests/unit/lowering/OpProgram.h"
#include "compiler/ir/Extents.h"
#include "compiler/ir/Shapes.h"
#include "passes/Passes.h"
#include "runtime/abi/Float.h"
#include "runtime/jit/Compile.h"

#include "mlir/Parser/Parser.h"
#include <cmath>
#include <cstring>

using namespace mlir;

namespace vetro::test {

/// The interpreter's state: floats, rounded as the state's element says.
struct OpProgram::State : ref::StateStore {
  std::map<std::string, std::map<int32_t, std::vector<float>>> rows;
  std::map<std::string, bool> half;

  void store(llvm::StringRef name, int32_t slot, const float *x, int64_t n) override {
    std::vector<float> &row = rows[name.str()][slot];
    row.assign(x, x + n);
    if (half[name.str()])
      for (float &v : row)
        v = f16ToFloat(floatToF16(v));
  }
  void load(llvm::StringRef name, int32_t slot, float *out, int64_t n) const override {
    const std::vector<float> &row = rows.at(name.str()).at(slot);
    std::copy_n(row.data(), n, out);
  }
};

namespace {
struct NoWeights : ref::WeightSource {
  void readRow(llvm::StringRef, int64_t, float *) const override {
    llvm_unreachable("the programs have no weights");
  }
};

template <typename T> T check(llvm::Expected<T> value) {
  if (!value)
    throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}

/// A number in (-2, 2) that only (row, column, seed) decide.
float number(uint64_t row, uint64_t column, uint64_t seed) {
  uint64_t h = (row * 1000003 + column) * 0x9E3779B97F4A7C15ull + seed * 0xBF58476D1CE4E5B9ull;
  h ^= h >> 31, h *= 0x94D049BB133111EBull, h ^= h >> 29;
  return float(double(h >> 11) / double(1ull << 53) * 4 - 2);
}

std::string inputName(const std::string &argument) {
  return argument.substr(1, argument.find(':') - 1);
}
} // namespace

OpProgram::OpProgram(const std::vector<std::string> &arguments, const std::string &body,
                     const std::string &result, const std::string &symbols,
                     const std::string &level) {
  std::string text = symbols + "\nfunc.func @forward(", separator;
  for (const char *name : planInputs) {
    text += separator + "%" + name + ": tensor<?xi32> {vetro.input = \"" + name + "\"}";
    separator = ", ";
  }
  for (const std::string &argument : arguments)
    text += ", " + argument + " {vetro.input = \"" + inputName(argument) + "\"}";
  text += ") -> " + result + " {\n" + body + "\n}\n";

  DialectRegistry registry;
  registry.insert<ir::VetroDialect, func::FuncDialect>();
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  module = parseSourceString<ModuleOp>(text, context.get());
  if (!module)
    throw std::runtime_error("the program is wrong:\n" + text);
  PassManager manager(context.get(), ModuleOp::getOperationName());
  manager.addPass(createPlanMemory());
  manager.addPass(createSchedule());
  if (failed(manager.run(*module)))
    throw std::runtime_error("the passes refuse:\n" + text);
  Lowered lowered = check(lower(*module, llvmContext));
  plan = std::move(lowered.plan);
  code = check(Code::load(
      check(compileObject(std::move(lowered.code), level.empty() ? bestLevel() : level))));
  clear();
}

OpProgram::~OpProgram() = default;

void OpProgram::clear() {
  cache = check(KvCache::create(plan.states, nCtx, nSequences));
  state = std::make_unique<State>();
  for (const PlanState &s : plan.states)
    state->half[s.name] = s.element == "f16";
}

bool OpProgram::isPoisoned(int32_t slot) const {
  return slot / int32_t(nCtx) == poison.sequence && slot % int32_t(nCtx) >= poison.from;
}

std::vector<ref::Tensor> OpProgram::inputs(const std::vector<ProgramToken> &tokens) {
  std::vector<int32_t> ids[8];
  auto &[id, position, sequence, slot, output, cell, cellPosition, cellSequence] = ids;
  for (const ProgramToken &t : tokens) {
    if (t.output)
      output.push_back(int32_t(id.size()));
    id.push_back(int32_t(id.size() % 5));
    position.push_back(int32_t(cache.length(t.sequence)));
    sequence.push_back(t.sequence);
    slot.push_back(int32_t(t.sequence * nCtx + position.back()));
    if (!cache.append(t.sequence))
      throw std::runtime_error("a sequence is full");
  }
  for (uint32_t s = 0; s < nSequences; ++s)
    for (uint32_t p = 0; llvm::is_contained(sequence, int32_t(s)) && p < cache.length(s); ++p) {
      cell.push_back(int32_t(s * nCtx + p));
      cellPosition.push_back(int32_t(p));
      cellSequence.push_back(int32_t(s));
    }
  std::vector<ref::Tensor> result;
  for (const std::vector<int32_t> &list : ids)
    result.push_back(ref::Tensor::ofIds(list));
  auto forward = module->lookupSymbol<func::FuncOp>("forward");
  for (BlockArgument arg : forward.getArguments().drop_front(8)) {
    ref::Shape shape(ir::shapeOf(arg).getShape());
    bool byRow = ShapedType::isDynamic(shape[0]);
    const std::vector<int32_t> *rows = nullptr;
    if (byRow)
      rows = ir::dynamicAxes(arg)[0] == ir::Axis::Cells     ? &cell
             : ir::dynamicAxes(arg)[0] == ir::Axis::Outputs ? &output
                                                            : &slot;
    if (byRow)
      shape[0] = int64_t(rows->size());
    ref::Tensor x(shape);
    int64_t width = byRow ? ir::staticProduct(ir::shapeOf(arg)) : x.size();
    for (int64_t i = 0; i < x.size(); ++i)
      x.data[i] = byRow && rows != &output && isPoisoned((*rows)[i / width])
                      ? poison.value
                      : number(byRow ? (*rows)[i / width] : 0, i % width, arg.getArgNumber());
    result.push_back(std::move(x));
  }
  return result;
}

/// Runs all steps, one piece of each after the other. Returns the buffers.
std::vector<std::vector<uint8_t>> OpProgram::runPlan(std::vector<ref::Tensor> &in,
                                                     unsigned pieces) {
  uint32_t nTokens = in[0].ids.size(), nOutputs = in[4].ids.size(), nCells = in[5].ids.size();
  VtBatch batch = {nTokens,          nOutputs,         in[0].ids.data(), in[1].ids.data(),
                   in[2].ids.data(), in[4].ids.data(), cache.pages(),    cache.maxPages(),
                   nCells,           in[6].ids.data(), in[7].ids.data()};
  std::vector<std::vector<uint8_t>> buffers;
  for (const PlanExtent &e : plan.buffers)
    buffers.emplace_back(e.of(nTokens, nOutputs, nCells), 0xFF); // NaN where nothing is written
  for (const PlanStep &step : plan.steps) {
    std::vector<void *> operands;
    for (const PlanOperand &o : step.operands)
      if (o.table == PlanTable::Buffer)
        operands.push_back(buffers[o.index].data());
      else if (o.table == PlanTable::State)
        operands.push_back(cache.address(o.index));
      else if (in[o.index].ids.empty())
        operands.push_back(in[o.index].data.data());
      else
        operands.push_back(in[o.index].ids.data());
    uint64_t stride = alignLine(step.scratch.of(nTokens, nOutputs, nCells));
    std::vector<uint8_t> scratch(stride * pieces + 64, 0xFF);
    VtArgs args{operands.data(), &batch, scratch.data(), stride};
    uint64_t units = step.units.of(nTokens, nOutputs, nCells);
    VtStep function = check(code->step(step.function));
    for (unsigned p = 0; p < pieces; ++p)
      if (units * p / pieces < units * (p + 1) / pieces)
        function(&args, uint32_t(units * p / pieces), uint32_t(units * (p + 1) / pieces), p);
  }
  return buffers;
}

/// The numbers that rows kept as `records` int8 records each stand for.
static ref::Tensor readRecords(const uint8_t *from, const ref::Shape &shape, uint32_t records) {
  ref::Tensor t(shape);
  int64_t k = t.dim(-1);
  for (int64_t r = 0; r < t.rows(); ++r)
    for (uint32_t n = 0; n < records; ++n, from += a8Stride(k)) {
      auto *codes = reinterpret_cast<const int8_t *>(from);
      auto *scales = reinterpret_cast<const float *>(from + a8ScalesOffset(k));
      for (int64_t i = 0; i < k; ++i)
        t.row(r)[i] += float(codes[i]) * scales[i / 32];
    }
  return t;
}

OpProgram::Result OpProgram::run(const std::vector<ProgramToken> &tokens, unsigned pieces) {
  std::vector<ref::Tensor> in = inputs(tokens);
  std::vector<std::vector<uint8_t>> buffers = runPlan(in, pieces);
  auto forward = module->lookupSymbol<func::FuncOp>("forward");
  std::vector<ref::Tensor> results = check(ref::interpret(forward, in, NoWeights(), *state));
  Result result{ref::Tensor(results[0].shape), results[0]};
  const uint8_t *y = buffers[plan.logitsBuffer].data();
  Value returned = forward.front().getTerminator()->getOperand(0);
  if (uint32_t records = ir::recordsOf(returned))
    result.ours = readRecords(y, results[0].shape, records);
  else
    std::memcpy(result.ours.data.data(), y, result.ours.data.size() * sizeof(float));
  return result;
}

double nmse(const ref::Tensor &ours, const ref::Tensor &reference) {
  if (ours.shape != reference.shape || ours.data.empty())
    return INFINITY;
  double error = 0, square = 0;
  for (size_t i = 0; i < ours.data.size(); ++i) {
    float a = ours.data[i], b = reference.data[i];
    if (std::isfinite(a) != std::isfinite(b) ||
        (!std::isfinite(b) && a != b && !(std::isnan(a) && std::isnan(b))))
      return INFINITY;
    if (std::isfinite(b))
      error += (double(a) - b) * (double(a) - b), square += double(b) * b;
  }
  return square > 0 ? error / square : error;
}

std::vector<ProgramToken> tokensOf(int n, int32_t sequence) {
  return std::vector<ProgramToken>(n, ProgramToken{sequence, false});
}

} // namespace vetro::test
