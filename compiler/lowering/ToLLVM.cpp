// scf, vector, arith, math to LLVM IR.
#include "compiler/lowering/ToLLVM.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Approximation.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace vetro {

namespace {
/// exp, tanh, erf and log1p as polynomials: calls of libm would be 10 to 15 times slower.
struct PolynomialMath : PassWrapper<PolynomialMath, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PolynomialMath)
  StringRef getArgument() const override { return "vetro-polynomial-math"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<vector::VectorDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

llvm::Expected<std::unique_ptr<llvm::Module>> toLLVM(ModuleOp module, llvm::LLVMContext &context) {
  PassManager manager(module.getContext());
  manager.addPass(std::make_unique<PolynomialMath>());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  std::string message;
  ScopedDiagnosticHandler collect(module.getContext(), [&](Diagnostic &d) {
    if (d.getSeverity() == DiagnosticSeverity::Error && message.empty())
      message = d.str();
    return success();
  });
  if (failed(manager.run(module)))
    return llvm::createStringError("lowering failed: " + message);
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "vetro_steps");
  if (!code)
    return llvm::createStringError("translation to LLVM IR failed: " + message);
  return code;
}

} // namespace vetro
