// Reading a function, giving it values.
#include "runtime/engine/Program.h"
#include "compiler/ir/Names.h"
#include "compiler/ir/Shapes.h"
#include "runtime/trace/Elements.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include <cmath>
#include <cstring>

using namespace mlir;

namespace vetro {

constexpr unsigned nLists = std::size(planInputs);

/// "path:line:column: text" of the first error; of an op that has a name instead: "path: name:
/// text".
static std::string lineOf(const Diagnostic &d, StringRef path) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (auto at = dyn_cast<FileLineColLoc>(d.getLocation()))
    out << at.getFilename().getValue() << ":" << at.getLine() << ":" << at.getColumn() << ": ";
  else if (StringRef name = ir::nameOf(d.getLocation()); !name.empty())
    out << path << ": " << name << ": ";
  out << d;
  return text;
}

llvm::Expected<std::unique_ptr<Program>> Program::parse(StringRef text, StringRef path) {
  std::unique_ptr<Program> p(new Program());
  p->path = path.str();
  DialectRegistry registry;
  registry.insert<ir::VetroDialect, func::FuncDialect>();
  p->context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  std::string message;
  ScopedDiagnosticHandler collect(p->context.get(), [&](Diagnostic &d) {
    if (d.getSeverity() == DiagnosticSeverity::Error && message.empty())
      message = lineOf(d, path);
    return success();
  });
  llvm::SourceMgr source;
  source.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, path), llvm::SMLoc());
  p->module = parseSourceFile<ModuleOp>(source, p->context.get());
  if (!p->module)
    return llvm::createStringError(message);
  if (llvm::Error error = p->prepare())
    return std::move(error);
  return p;
}

llvm::Expected<std::unique_ptr<Program>> Program::open(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError(path + ": " + buffer.getError().message());
  return parse((*buffer)->getBuffer(), path);
}

func::FuncOp Program::function() const { return *(*module).getOps<func::FuncOp>().begin(); }

/// The name of the value that an argument reads.
static std::string inputOf(func::FuncOp func, unsigned i) {
  if (auto name = func.getArgAttrOfType<StringAttr>(i, "vetro.input"))
    return name.getValue().str();
  return "arg" + std::to_string(i);
}

/// Puts the lists of a batch first, in their order, so that plan and interpreter find them.
static void putListsFirst(func::FuncOp func) {
  Builder b(func.getContext());
  for (unsigned i = 0; i < func.getNumArguments(); ++i) // a name before its number changes
    func.setArgAttr(i, "vetro.input", b.getStringAttr(inputOf(func, i)));
  auto type = RankedTensorType::get({ShapedType::kDynamic}, b.getI32Type());
  for (unsigned i = 0; i < nLists; ++i) {
    auto name = b.getNamedAttr("vetro.input", b.getStringAttr(planInputs[i]));
    unsigned given = i;
    while (given < func.getNumArguments() && inputOf(func, given) != planInputs[i])
      ++given;
    (void)func.insertArgument(i, type, b.getDictionaryAttr(name), func.getLoc());
    if (++given == func.getNumArguments())
      continue;
    func.getArgument(given).replaceAllUsesWith(func.getArgument(i));
    (void)func.eraseArgument(given);
  }
}

llvm::Error Program::prepare() {
  auto functions = (*module).getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(functions) || function().isExternal() ||
      !function().getBody().hasOneBlock())
    return llvm::createStringError(path + ": expected one function of one block");
  auto refuse = [&](const Twine &what, Type type, const char *wanted = "a tensor of f32 or i32") {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return llvm::createStringError(path + ": " + what + " is " + text + ", expected " + wanted);
  };
  auto isNumbers = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && (tensor.getElementType().isF32() || tensor.getElementType().isInteger(32));
  };
  auto list = RankedTensorType::get({ShapedType::kDynamic}, IntegerType::get(context.get(), 32));
  for (auto [i, type] : llvm::enumerate(function().getArgumentTypes()))
    if (llvm::is_contained(planInputs, inputOf(function(), i)) && type != list)
      return refuse("argument " + inputOf(function(), i), type,
                    "tensor<?xi32>, a list of the batch");
    else if (!isNumbers(type) || ir::recordsOf(ir::storageFormat(type)))
      return refuse("argument " + inputOf(function(), i), type);
  for (auto [i, type] : llvm::enumerate(function().getResultTypes()))
    if (!isNumbers(type))
      return refuse("result " + Twine(i), type);
  if (function().getNumResults() == 0)
    return llvm::createStringError(path + ": the function returns nothing");
  putListsFirst(function());
  function().setName("forward");
  return llvm::Error::success();
}

std::vector<std::string> Program::inputNames() const {
  std::vector<std::string> names;
  for (unsigned i = nLists; i < function().getNumArguments(); ++i)
    names.push_back(inputOf(function(), i));
  for (auto weight : (*module).getOps<ir::WeightOp>())
    names.push_back(weight.getSymName().str());
  return names;
}

std::vector<std::string> Program::resultNames() const {
  std::vector<std::string> names;
  for (auto [i, v] : llvm::enumerate(function().front().getTerminator()->getOperands())) {
    Operation *def = v.getDefiningOp();
    StringRef name = def ? ir::nameOf(def) : StringRef();
    names.push_back(name.empty() ? "result" + std::to_string(i) : name.str());
  }
  return names;
}

// ---- values ----

/// As many of an axis as one value has, so many have all.
llvm::Error Program::count(ir::Axis axis, int64_t n, StringRef name) {
  auto [it, fresh] = counted.try_emplace(axis, n, name.str());
  if (fresh || it->second.first == n)
    return llvm::Error::success();
  return llvm::createStringError("%s: %s has %lld rows, %s has %lld", path.c_str(),
                                 name.str().c_str(), (long long)n, it->second.second.c_str(),
                                 (long long)it->second.first);
}

static llvm::Error refuseShape(const TensorFile &values, StringRef name, Type wanted) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << values.path() << ": " << name << " is [";
  llvm::interleaveComma(values.find(name)->shape, out);
  out << "], the program wants " << wanted;
  return llvm::createStringError(text);
}

llvm::Error Program::bindInput(unsigned i, const TensorFile &values) {
  std::string name = inputOf(function(), i);
  BlockArgument argument = function().getArgument(i);
  RankedTensorType type = ir::shapeOf(argument);
  if (!values.find(name) && i < nLists)
    return llvm::Error::success();
  auto value = values.read(name);
  if (!value)
    return llvm::joinErrors(value.takeError(), llvm::Error::success());
  SmallVector<ir::Axis, 2> axes = ir::dynamicAxes(argument);
  bool fits = value->shape.size() == size_t(type.getRank());
  for (int64_t axis = 0, dynamic = 0; fits && axis < type.getRank(); ++axis) {
    fits = type.isDynamicDim(axis) || type.getDimSize(axis) == value->shape[axis];
    if (type.isDynamicDim(axis))
      if (llvm::Error error = count(axes[dynamic++], value->shape[axis], name))
        return error;
  }
  if (!fits)
    return refuseShape(values, name, type);
  inputs[i] = ref::Tensor(value->shape);
  inputs[i].data = std::move(value->data);
  if (!type.getElementType().isInteger(32))
    return llvm::Error::success();
  for (float id : inputs[i].data)
    if (!(id >= 0 && id == std::floor(id) && id <= 0x1p24f))
      return llvm::createStringError(values.path() + ": " + name + " holds " + std::to_string(id) +
                                     ", expected ids");
    else
      inputs[i].ids.push_back(int32_t(id));
  return llvm::Error::success();
}

llvm::Error Program::bindWeight(ir::WeightOp weight, const TensorFile &values) {
  StringRef name = weight.getSymName();
  auto type = cast<RankedTensorType>(weight.getType());
  const TensorEntry *entry = values.find(name);
  if (!entry)
    return values.read(name).takeError();
  std::vector<uint8_t> &bytes = weights[name];
  if (entry->dtype == "U8" && ir::storageFormat(type) != "f32") {
    uint64_t rows = type.getNumElements() / type.getShape().back();
    uint64_t wanted = rows * rowBytes(ir::formatOf(type), type.getShape().back());
    if (entry->sizeBytes != wanted)
      return refuseShape(values, name, type);
    bytes.resize(wanted);
    return entry->bytes->read(entry->offset, reinterpret_cast<char *>(bytes.data()), wanted);
  }
  auto value = values.read(name);
  if (!value)
    return value.takeError();
  if (ir::storageFormat(type) != "f32" || ArrayRef(value->shape) != type.getShape())
    return refuseShape(values, name, type);
  bytes.resize(value->data.size() * sizeof(float));
  std::memcpy(bytes.data(), value->data.data(), bytes.size());
  return llvm::Error::success();
}

/// One sequence from its begin; all tokens are outputs where nobody asked for some.
void Program::fillLists() {
  auto sizeOf = [&](ir::Axis axis, int64_t otherwise) {
    auto it = counted.find(axis);
    return it == counted.end() ? otherwise : it->second.first;
  };
  int64_t nTokens = sizeOf(ir::Axis::Tokens, 1);
  int64_t counts[nLists];
  std::fill_n(counts, nLists, nTokens);
  counts[4] = sizeOf(ir::Axis::Outputs, nTokens);
  counts[5] = counts[6] = counts[7] = sizeOf(ir::Axis::Cells, nTokens);
  for (unsigned i = 0; i < nLists; ++i) {
    if (!inputs[i].ids.empty())
      continue;
    bool isZeros = i == 0 || i == 2 || i == 7; // tokens, sequences
    std::vector<int32_t> ids(counts[i]);
    for (auto [n, id] : llvm::enumerate(ids))
      id = isZeros ? 0 : int32_t(n);
    inputs[i] = ref::Tensor::ofIds(ids);
  }
}

/// Kernels trust the lists: none may lead out of the one sequence that there is.
llvm::Error Program::checkLists() {
  int64_t nTokens = int64_t(inputs[0].ids.size());
  bool hasStates = !(*module).getOps<ir::StateOp>().empty();
  // Of each list what its ids are below; tokens are held against their table.
  int64_t most = INT32_MAX,
          ends[nLists] = {most, hasStates ? nTokens : most, 1, nTokens, nTokens, nTokens, nTokens,
                          1};
  for (unsigned i = 0; i < nLists; ++i)
    for (int32_t id : inputs[i].ids)
      if (id >= ends[i])
        return llvm::createStringError(path + ": " + planInputs[i] + " holds " + Twine(id) +
                                       ", the batch has one sequence of " + Twine(nTokens) +
                                       " tokens");
  return llvm::Error::success();
}

llvm::Error Program::bind(const TensorFile &values) {
  counted.clear();
  inputs.assign(function().getNumArguments(), {});
  for (unsigned i = 0; i < inputs.size(); ++i)
    if (llvm::Error error = bindInput(i, values))
      return error;
  for (auto weight : (*module).getOps<ir::WeightOp>())
    if (llvm::Error error = bindWeight(weight, values))
      return error;
  fillLists();
  return checkLists();
}

} // namespace vetro
