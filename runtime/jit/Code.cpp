// Loading of object code by ORC. This is the one file that includes its headers.
#include "runtime/jit/Code.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace vetro {

/// What LLVM may call on its own: block copies, and fused multiply-add below AVX2.
static orc::SymbolMap runtimeSymbols(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  auto add = [&](StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                          JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  };
  add("memcpy", static_cast<void *(*)(void *, const void *, size_t)>(std::memcpy));
  add("memmove", static_cast<void *(*)(void *, const void *, size_t)>(std::memmove));
  add("memset", static_cast<void *(*)(void *, int, size_t)>(std::memset));
  add("fmaf", static_cast<float (*)(float, float, float)>(::fmaf));
  add("fma", static_cast<double (*)(double, double, double)>(::fma));
  add("floorf", static_cast<float (*)(float)>(::floorf));
  return symbols;
}

Code::Code(std::unique_ptr<orc::LLJIT> jit) : jit(std::move(jit)) {}
Code::~Code() = default;

Expected<std::unique_ptr<Code>> Code::load(std::unique_ptr<MemoryBuffer> object) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  auto jit = orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  if (Error error = (*jit)->getMainJITDylib().define(orc::absoluteSymbols(runtimeSymbols(**jit))))
    return std::move(error);
  if (Error error = (*jit)->addObjectFile(std::move(object)))
    return std::move(error);
  return std::unique_ptr<Code>(new Code(std::move(*jit)));
}

Expected<VtStep> Code::step(StringRef name) const {
  auto address = jit->lookup(name);
  if (!address)
    return address.takeError();
  return address->toPtr<VtStep>();
}

} // namespace vetro
