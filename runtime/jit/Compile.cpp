// Linking kernel bitcode, and code generation.
#include "runtime/jit/Compile.h"
#include "runtime/kernels/cpu/Bitcode.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace vetro {

namespace {
/// What the code generator is told for each level.
struct LevelTarget {
  StringRef level, cpu;
  StringRef vectorWidth; ///< bits that LLVM's own vectorisation should prefer
};
constexpr LevelTarget levelTargets[] = {
    {"scalar", "x86-64", "128"},
    {"avx2", "x86-64-v3", "256"},
    {"avx512", "x86-64-v4", "512"},
    {"vnni", "icelake-server", "512"},
};
} // namespace

StringRef bestLevel() {
  StringRef best = levelTargets[0].level;
  for (const LevelTarget &target : levelTargets)
    if (cpuHasLevel(target.level.data()))
      best = target.level;
  return best;
}

std::vector<StringRef> levelsBelow(StringRef level) {
  std::vector<StringRef> below;
  for (const LevelTarget &target : levelTargets) {
    if (target.level == level)
      return {below.rbegin(), below.rend()};
    below.push_back(target.level);
  }
  return {};
}

static Expected<const LevelTarget *> findLevel(StringRef level) {
  for (const LevelTarget &target : levelTargets) {
    if (target.level != level)
      continue;
    if (!cpuHasLevel(target.level.data()))
      return createStringError("this cpu does not run the level '%s'; its best is '%s'",
                               level.str().c_str(), bestLevel().str().c_str());
    return &target;
  }
  return createStringError("unknown level '%s'; known: scalar, avx2, avx512, vnni",
                           level.str().c_str());
}

/// Attributes with which clang marked the kernels and that would forbid inlining, or keep 256-bit
/// code, in a module built for another target string.
static constexpr StringRef strippedAttributes[] = {"target-cpu", "target-features", "tune-cpu",
                                                   "min-legal-vector-width", "no-builtins"};

static Error linkKernels(Module &steps, StringRef level) {
  const KernelBitcode *kernels = kernelBitcode();
  const KernelBitcode *end = kernels + numKernelLevels;
  const KernelBitcode *found =
      std::find_if(kernels, end, [&](const KernelBitcode &k) { return level == k.level; });
  MemoryBufferRef buffer(StringRef(found->begin, found->end - found->begin), "kernels");
  Expected<std::unique_ptr<Module>> module = parseBitcodeFile(buffer, steps.getContext());
  if (!module)
    return module.takeError();
  for (Function &f : **module)
    for (StringRef attribute : strippedAttributes)
      f.removeFnAttr(attribute);
  steps.setTargetTriple((*module)->getTargetTriple());
  steps.setDataLayout((*module)->getDataLayout());
  if (Linker::linkModules(steps, std::move(*module), Linker::LinkOnlyNeeded))
    return createStringError("the kernels of level '%s' do not link", level.str().c_str());
  for (Function &f : steps)
    if (f.isDeclaration() && f.getName().starts_with("vt_"))
      return createStringError("no kernel '%s' at level '%s'", f.getName().str().c_str(),
                               level.str().c_str());
  return Error::success();
}

static void setLevel(Module &module, const LevelTarget &target) {
  for (Function &f : module) {
    if (f.isDeclaration())
      continue;
    f.addFnAttr("target-cpu", target.cpu);
    f.addFnAttr("prefer-vector-width", target.vectorWidth);
    if (!f.getName().starts_with("vt_step_"))
      f.setLinkage(GlobalValue::InternalLinkage);
  }
}

static Expected<std::unique_ptr<TargetMachine>> makeMachine(const LevelTarget &target) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  InitializeNativeTargetAsmParser();
  Triple triple(sys::getProcessTriple());
  std::string message;
  const Target *llvmTarget = TargetRegistry::lookupTarget(triple, message);
  if (!llvmTarget)
    return createStringError("no code generator: " + message);
  TargetOptions options; // AllowFPOpFusion stays strict for written-out sums
  options.AllowFPOpFusion = FPOpFusion::Strict;
  return std::unique_ptr<TargetMachine>(llvmTarget->createTargetMachine(
      triple, target.cpu, "", options, Reloc::PIC_, CodeModel::Small, CodeGenOptLevel::Default));
}

static void optimise(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2).run(module, modules);
}

static Expected<SmallVector<char, 0>> generate(std::unique_ptr<Module> steps, StringRef level,
                                               CodeGenFileType type) {
  Expected<const LevelTarget *> target = findLevel(level);
  if (!target)
    return target.takeError();
  if (Error error = linkKernels(*steps, level))
    return std::move(error);
  setLevel(*steps, **target);
  auto machine = makeMachine(**target);
  if (!machine)
    return machine.takeError();
  optimise(*steps, **machine);
  SmallVector<char, 0> bytes;
  raw_svector_ostream out(bytes);
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, out, nullptr, type))
    return createStringError("the code generator cannot write this file type");
  passes.run(*steps);
  return bytes;
}

Expected<std::unique_ptr<MemoryBuffer>> compileObject(std::unique_ptr<Module> steps,
                                                      StringRef level) {
  auto bytes = generate(std::move(steps), level, CodeGenFileType::ObjectFile);
  if (!bytes)
    return bytes.takeError();
  return MemoryBuffer::getMemBufferCopy(StringRef(bytes->data(), bytes->size()), "vetro_steps");
}

Expected<std::string> compileAssembly(std::unique_ptr<Module> steps, StringRef level) {
  auto bytes = generate(std::move(steps), level, CodeGenFileType::AssemblyFile);
  if (!bytes)
    return bytes.takeError();
  return std::string(bytes->data(), bytes->size());
}

} // namespace vetro
