// vetro opt: MLIR's optimiser driver with everything of Vetro registered.
#include "compiler/ir/Vetro.h"
#include "compiler/lowering/Lower.h"
#include "passes/Passes.h"
#include "runtime/cli/Command.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

namespace vetro::cli {

int runOpt(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<ir::VetroDialect, mlir::func::FuncDialect>();
  registerVetroPasses();
  registerLoweringPasses();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "vetro opt: Vetro's optimiser driver\n", registry));
}

} // namespace vetro::cli
