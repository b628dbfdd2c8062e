// Compiles, runs and interprets a few ops.
#include "tests/unit/lowering/OpProgram.h"
#include "compiler/ir/Extents.h"
#include "compiler/ir/Shapes.h"
#include "passes/Passes.h"
#include "runtime/abi/Float.h"
#include "runtime/jit/Compile.h"

#include "mlir/Parser/Parser.h"
#include <cmath>

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
  program = check(CompiledProgram::create(*module, level.empty() ? bestLevel() : level));
  clear();
}

OpProgram::~OpProgram() = default;

void OpProgram::clear() {
  cache = check(KvCache::create(program.plan().states, nCtx, nSequences));
  state = std::make_unique<State>();
  for (const PlanState &s : program.plan().states)
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

OpProgram::Result OpProgram::run(const std::vector<ProgramToken> &tokens, unsigned pieces) {
  std::vector<ref::Tensor> in = inputs(tokens);
  ref::Tensor ours = check(program.run(in, cache, pieces));
  auto forward = module->lookupSymbol<func::FuncOp>("forward");
  return {std::move(ours), check(ref::interpret(forward, in, NoWeights(), *state))[0]};
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
