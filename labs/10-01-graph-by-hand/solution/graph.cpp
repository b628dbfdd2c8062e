// A graph by hand, in C++: C = B * A^T. graph_by_hand MATRICES OUTPUT
#include "compiler/ir/Vetro.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "runtime/engine/Program.h"
#include "runtime/jit/Compile.h"

#include "llvm/Support/Format.h"

using namespace mlir;

/// Three types, a declared weight, an argument, one op. There is no number in it.
static OwningOpRef<ModuleOp> buildGraph(MLIRContext &context) {
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  Type f32 = b.getF32Type();
  auto typeA = RankedTensorType::get({4, 2}, f32);
  auto typeB = RankedTensorType::get({3, 2}, f32);
  auto typeC = RankedTensorType::get({3, 4}, f32);

  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  vetro::ir::WeightOp::create(b, loc, "A", typeA);
  auto func = func::FuncOp::create(b, loc, "product", b.getFunctionType({typeB}, {typeC}));
  func.setArgAttr(0, "vetro.input", b.getStringAttr("B"));
  b.setInsertionPointToEnd(func.addEntryBlock());
  Value a = vetro::ir::GetWeightOp::create(b, loc, typeA, "A");
  Value c = vetro::ir::MatmulOp::create(b, loc, typeC, func.getArgument(0), a);
  func::ReturnOp::create(b, loc, c);
  return module;
}

static llvm::Error run(const char *matrices, const char *output) {
  MLIRContext context;
  context.loadDialect<vetro::ir::VetroDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = buildGraph(context);
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  llvm::outs() << text << "\nbuilt\n";

  auto program = vetro::Program::parse(text, "graph.cpp");
  if (!program)
    return program.takeError();
  llvm::outs() << "parsed\n";

  auto values = vetro::TensorFile::open(matrices);
  if (!values)
    return values.takeError();
  if (llvm::Error error = (*program)->bind(**values))
    return error;
  llvm::outs() << "bound\n";

  auto c = (*program)->run(vetro::bestLevel());
  if (!c)
    return c.takeError();
  llvm::outs() << "run\n";

  std::error_code code;
  llvm::raw_fd_ostream out(output, code);
  if (code)
    return llvm::createStringError(code, output);
  for (int64_t row = 0; row < c->dim(0); ++row) {
    for (int64_t column = 0; column < c->dim(1); ++column)
      out << llvm::format("%g ", c->row(row)[column]);
    out << "\n";
  }
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  if (llvm::Error error = run(argv[1], argv[2])) {
    llvm::errs() << llvm::toString(std::move(error)) << "\n";
    return 2;
  }
  return 0;
}
